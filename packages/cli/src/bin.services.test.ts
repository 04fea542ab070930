import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, vi } from 'vitest'

const bin = fileURLToPath(new URL('../bin/sluice.js', import.meta.url))
const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url))
const traces = fileURLToPath(new URL('../../lab/fixtures/traces/', import.meta.url))

beforeAll(() => {
  const built = fileURLToPath(new URL('../dist/main.js', import.meta.url))
  if (!existsSync(built)) throw new Error('packages/cli/dist is not there: run `npm run build` first')
})

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** @param until what standard error ends in when the program is to be told to stop */
function run(program: string, argv: readonly string[], until?: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv)
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.stderr.on('data', (chunk) => {
      err += chunk
      if (until !== undefined && err.trimEnd().endsWith(until)) child.kill('SIGTERM')
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, out, err }))
  })
}

describe('the program', () => {
  it('runs as it is', async () => {
    expect(await run(bin, ['--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^sluice \d/),
      err: '',
    })
  })

  it('exits with what it found, 1 or 2', async () => {
    const wrong = await run(process.execPath, [bin, 'check', `${fixtures}rules/mistakes.yaml`])
    expect(wrong).toMatchObject({ code: 1, out: '' })
    expect(await run(process.execPath, [bin, 'chekc'])).toMatchObject({ code: 2, out: '' })
  })

  it('is silent when whoever reads leaves early', async () => {
    const log = `${traces}apache-combined-2015.log.gz`
    const command = `"${process.execPath}" "${bin}" simulate "${fixtures}rules/shop.yaml" --log "${log}"`
    expect(await run('sh', ['-c', `{ ${command}; echo $? >&2; } | true`])).toMatchObject({
      out: '',
      err: '0\n',
    })
  })

  it('serves until it is told to stop', async () => {
    const argv = ['serve', `${fixtures}rules/shop.yaml`, '--http', '127.0.0.1:0', '--admin', '127.0.0.1:0']
    const served = await run(process.execPath, [bin, ...argv], '/v1/rules')
    expect(served.code).toBe(0)
    expect(served.out).toMatch(/"msg":"stopped"/)
  })

  it('logs for people on a terminal, and Ctrl-C there says what it waits for', async () => {
    const line = `"${process.execPath}" "${bin}" serve "${fixtures}rules/shop.yaml" --http 127.0.0.1:0 --admin 127.0.0.1:0`
    const child = spawn('script', ['-qec', line, '/dev/null'], { env: { ...process.env, NO_COLOR: '1' } })
    const closed = new Promise((resolve) => child.on('close', resolve))
    let shown = ''
    child.stdout.on('data', (chunk) => {
      shown += chunk
    })
    await vi.waitFor(() => expect(shown).toContain('/v1/rules'), 60_000)
    child.stdin.write('\x03')
    await closed
    expect(shown).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: http listens at http/m)
    expect(shown).toMatch(/^(?:\^C)?\[\d\d:\d\d:\d\d\] INFO: stopping: no request is in flight/m)
    expect(shown).toMatch(/INFO: stopped/)
  })

  it('OF-68: drops lines of a log that nobody reads, counts them, and ends at the first SIGTERM', async () => {
    const argv = ['serve', `${fixtures}rules/messaging.yaml`, '--log-level', 'debug']
    const child = spawn(process.execPath, [bin, ...argv, '--http', '127.0.0.1:0', '--admin', '127.0.0.1:0'])
    const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)))
    try {
      let err = ''
      child.stderr.on('data', (chunk) => {
        err += chunk
      })
      await vi.waitFor(() => expect(err).toMatch(/\/v1\/rules\n/), 60_000)
      const [http, admin] = err.match(/http:\/\/[\d.]+:\d+/g)!
      const entries = [{ key: 'message_type', value: 'marketing' }]
      const body = JSON.stringify(new Array(1_000).fill({ domain: 'messaging', descriptors: [{ entries }] }))
      const headers = { 'content-type': 'application/json' }
      for (let i = 0; i < 8; i++) {
        const answer = await fetch(`${http}/v1/check/batch`, { method: 'POST', headers, body })
        expect(answer.status).toBe(200)
        await answer.text() // a batch is decided as fast as its answer is read
      }
      const metrics = await (await fetch(`${admin}/metrics`)).text()
      expect(Number(/^sluice_log_dropped_lines_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0)
      child.kill('SIGTERM')
      expect(await ended).toBe(0)
    } finally {
      child.kill('SIGKILL')
    }
  })
})
