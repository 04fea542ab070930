import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** The program as it is published, and a rulebook for it. */
export const servedBin: string = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url))
export const servedRules: string = fileURLToPath(new URL('../../fixtures/rules/shop.yaml', import.meta.url))

/** Prints, at its end, how many modules of each package a process has loaded, of those that are CommonJS. */
const LOADED = `data:text/javascript,${encodeURIComponent(`
  import { createRequire } from 'node:module'
  const { cache } = createRequire('/')
  process.on('exit', () => {
    const loaded = {}
    for (const file of Object.keys(cache)) {
      const name = file.split('node_modules/').at(-1).split('/').slice(0, file.includes('node_modules/@') ? 2 : 1).join('/')
      loaded[name] = (loaded[name] ?? 0) + 1
    }
    console.error('loaded ' + JSON.stringify(loaded))
  })
`)}`

/** A run of `sluice serve`. */
export interface ServedRun {
  readonly url: string
  /** Stops it. Answers how many modules of each package it had loaded. */
  stop(): Promise<ReadonlyMap<string, number>>
}

/** Runs `sluice serve` as a process of its own, until the test is over. */
export async function served(argv: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ServedRun> {
  const own = ['--http', '127.0.0.1:0', '--admin', '127.0.0.1:0', '--idle-time', '0']
  const line = [servedBin, 'serve', servedRules, ...own, ...argv]
  const child = spawn(process.execPath, ['--import', LOADED, ...line], { env: { ...process.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  let err = ''
  child.stdout.resume()
  child.stderr.on('data', (chunk) => (err += chunk))
  const listening = /^sluice listens at ([^,]+),/
  while (!listening.test(err)) {
    await Promise.race([once(child.stderr, 'data'), once(child, 'close')])
    if (child.exitCode !== null) throw new Error(err)
  }
  return {
    url: listening.exec(err)![1]!,
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'close')
      return new Map(Object.entries(JSON.parse(/loaded (.*)/.exec(err)![1]!)))
    },
  }
}
