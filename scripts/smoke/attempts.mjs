// Attempts, a few at a time, each told of in one line and counted; and the processes they start.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'

const AT_ONCE = 3
const PATIENCE_MS = 600_000

/** Each is `[what, run]`, and fails by throwing. */
export async function countAttempts(attempts) {
  const outcome = { passed: 0, failed: 0 }
  const left = attempts.values()
  const work = async () => {
    for (const [what, run] of left) {
      try {
        await run()
        outcome.passed++
        console.log(`ok   ${what}`)
      } catch (error) {
        outcome.failed++
        console.log(`FAIL ${what}\n${error.message}`)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return outcome
}

/** What a program prints on its standard output. @throws when it fails, with all that it printed */
export function outputOf(folder, program, ...args) {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd: folder, timeout: PATIENCE_MS }, (error, stdout) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${error.message}\n${stdout}`))
    })
  })
}

/** Starts a server on a free port, and ends it after the body. @throws what the body throws, with all it printed */
export async function withServer(folder, program, args, body) {
  const server = spawn(program, args, { cwd: folder, env: { ...process.env, PORT: '0' } })
  const ended = once(server, 'close')
  const timer = setTimeout(() => server.kill('SIGKILL'), PATIENCE_MS)
  let printed = ''
  try {
    const port = await new Promise((resolve, reject) => {
      const read = (text) => {
        printed += text
        // The samples print their address: as a URL, or as Node's `server.address()`.
        const [, port] = /(?:port: |http:\S+:)(\d+)\s/.exec(printed) ?? []
        if (port !== undefined) resolve(port)
      }
      server.stdout.setEncoding('utf8').on('data', read)
      server.stderr.setEncoding('utf8').on('data', read)
      ended.then(() => reject(new Error('it ended')), reject)
    })
    await body(`http://127.0.0.1:${port}`)
  } catch (error) {
    throw new Error(`${error.message}\n${printed}`)
  } finally {
    clearTimeout(timer)
    server.kill('SIGKILL')
    await ended
  }
}
