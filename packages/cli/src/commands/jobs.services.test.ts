import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const bin = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url))
const traces = fileURLToPath(new URL('../../../lab/fixtures/traces/', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'sluice-jobs-'))
afterAll(() => rmSync(folder, { recursive: true }))

function rules(name: string, limits: string): string {
  const path = join(folder, name)
  writeFileSync(path, `domain: replay\nlimits:\n${limits}\n`)
  return path
}

const one = rules('one.yaml', '  - { name: one, key: [ip], limit: 20/minute }')
const several = rules(
  'several.yaml',
  `  - { name: one, key: [ip], limit: 30/minute, algorithm: fixed-window }
  - { name: slots, key: [ip, path], limit: 3/minute, algorithm: concurrency }
  - { name: secret, key: [ip, "header:user-agent"], limit: 9/minute, algorithm: sliding-window-log }`,
)
const all = rules(
  'all.yaml',
  '  - { name: all, key: [], limit: 60/minute, algorithm: sliding-window-counter }',
)

async function sluice(...argv: string[]): Promise<string> {
  const env = { ...process.env, SLUICE_SECRET: 'a secret of this test' }
  const { stdout } = await run(process.execPath, [bin, ...argv], { env, maxBuffer: 1e8 })
  return stdout
}

describe('--jobs', () => {
  const log = ['--log', join(traces, 'nasa-*.gz'), '--log', join(traces, 'apache-combined-2015.log.gz')]

  it.each([
    ['one rule', ['simulate', one]],
    ['several rules', ['simulate', several]],
    ['a rule for all', ['simulate', all]],
    ['two rulebooks', ['compare', one, several]],
    ['two rulebooks without a common key', ['compare', several, all]],
  ])('prints the same bytes with 1, 2 and 3 threads: %s', async (_, command) => {
    const [alone, ...shared] = await Promise.all(
      ['1', '2', '3'].map((count) => sluice(...command, ...log, '--format', 'json', '--jobs', count)),
    )
    expect(JSON.parse(alone!).requests).toBe(29_997)
    expect(shared).toEqual([alone, alone])
  })

  it('is a number from 1 to 64', async () => {
    await expect(sluice('simulate', one, ...log, '--jobs', '0')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--jobs must be a whole number from 1 to 64, not "0"'),
    })
  })
})
