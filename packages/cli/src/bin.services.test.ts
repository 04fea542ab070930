import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'

const bin = fileURLToPath(new URL('../bin/sluice.js', import.meta.url))
const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url))

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
    const log = `${fixtures}traces/apache-combined-2015.log.gz`
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
})
