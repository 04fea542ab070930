import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../limiter/src/stores/redis/server.test-support.ts'
import { runLine } from '../testing.ts'

const sluice = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'sluice-drill-'))
let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(async () => {
  await redis.stop()
  rmSync(folder, { recursive: true })
})

function rulesFile(name: string, login: string): string {
  const path = join(folder, name)
  writeFileSync(
    path,
    `
domain: d
limits:
  - { name: login, when: { path: /login }, key: [ip], limit: 5/minute, on_store_error: ${login} }
  - { name: search, when: { path: /search }, key: [user], limit: 10/s, algorithm: sliding-window-log }
  - { name: share, when: { path: /share }, key: [user], limit: 10/10s, on_store_error: local }
`,
  )
  return path
}

interface Rule {
  readonly rule: string
  readonly stated: string
  readonly seen?: string
  readonly exactAfterMs?: number
}

/** @param deadline of the store: on a busy machine it takes longer to answer than 50 ms, and the slow one takes 200 */
async function drill(stated: string, kept: string, more: readonly string[] = [], deadline = '150ms') {
  const { code, out, err } = await runLine(
    [
      ...[
        'drill',
        '--store',
        `redis://127.0.0.1:${redis.port}`,
        '--rules',
        stated,
        '--format',
        'json',
        ...more,
      ],
      ...['--', process.execPath, sluice, 'serve', kept, '--store-deadline', deadline],
    ],
    '',
    process.env,
  )
  expect(err).toBe('')
  const report = JSON.parse(out) as {
    readonly failures: readonly { readonly failure: string; readonly rules: readonly Rule[] }[]
    readonly events: readonly {
      readonly event: string
      readonly rules: readonly { readonly wrong: number }[]
    }[]
    readonly problems: readonly string[]
  }
  return { code, ...report }
}

describe('sluice drill (Acceptance 14.5)', () => {
  it('finds each rule in the mode that it states, and exact again, whatever the store does', async () => {
    const rules = rulesFile('rules.yaml', 'closed')
    const { code, failures, problems } = await drill(rules, rules)
    expect(problems).toEqual([])
    expect(code).toBe(0)
    expect(failures.map(({ failure }) => failure)).toEqual([
      'hang',
      'cut',
      'slow',
      'half-open',
      'reset',
      'restart',
    ])
    for (const { failure, rules: tried } of failures) {
      if (['half-open', 'reset'].includes(failure)) continue
      expect(
        tried.map(({ seen }) => seen),
        failure,
      ).toEqual(['closed', 'open', 'local'])
    }
  })

  it('names a rule that is said to be closed, and is found open', async () => {
    const stated = rulesFile('stated.yaml', 'closed')
    const kept = rulesFile('kept.yaml', 'open')
    const { code, problems } = await drill(stated, kept, ['--failure', 'hang'])
    expect(code).toBe(1)
    expect(problems[0]).toBe('login, hang: stated closed, found open')
  })

  it('names a rule that is less strict than it states, also where it is local or open', async () => {
    const stated = rulesFile('stated.yaml', 'local')
    const kept = rulesFile('kept.yaml', 'closed')
    const { code, problems } = await drill(stated, kept, ['--failure', 'cut'])
    expect(code).toBe(1)
    expect(problems).toEqual(['login, cut: stated local, found closed'])
  })

  it('says so where the command does not use the store', async () => {
    const rules = rulesFile('rules.yaml', 'closed')
    const { code, err } = await runLine(
      [
        ...['drill', '--store', `redis://127.0.0.1:${redis.port}`, '--rules', rules],
        ...['--', process.execPath, sluice, 'serve', rules, '--store', 'memory'],
      ],
      '',
      process.env,
    )
    expect(code).toBe(2)
    expect(err).toContain('the command does not use the store at SLUICE_STORE')
  })

  it('says how it is used', async () => {
    const rules = rulesFile('rules.yaml', 'closed')
    const refused = async (...argv: string[]) => {
      const { code, err } = await runLine(['drill', '--rules', rules, ...argv])
      expect(code).toBe(2)
      return err
    }
    const store = ['--store', 'redis://127.0.0.1:1']
    expect(await refused(...store)).toContain('name the command behind --')
    expect(await refused('--store', 'redis://192.0.2.1', '--', 'true')).toContain(
      '--target-is-mine 192.0.2.1',
    )
    expect(await refused('--', 'true')).toContain('--store must be one Redis')
    expect(await refused(...store, '--failure', 'hnag', '--', 'true')).toContain('did you mean "hang"?')
    expect(await refused(...store, '--', '/none/such')).toContain('/none/such')
    expect(await refused(...store, '--', 'sh', '-c', 'echo it is broken; exit 3')).toContain('it is broken')
  })
})

describe('Acceptance 14.6: two nodes', () => {
  it('decide nothing wrong while one is killed, while clocks differ, and while both reload', async () => {
    const rules = rulesFile('rules.yaml', 'closed')
    const { code, events, problems } = await drill(
      rules,
      rules,
      ['--failure', 'reset', '--nodes', '2'],
      '10s',
    )
    expect(problems).toEqual([])
    expect(code).toBe(0)
    expect(events.map(({ event, rules: tried }) => [event, tried.map(({ wrong }) => wrong)])).toEqual([
      ['kill', [0, 0, 0]],
      ['clocks', [0, 0, 0]],
      ['reload', [0, 0, 0]],
    ])
  })
})
