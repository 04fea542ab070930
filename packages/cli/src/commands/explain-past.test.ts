import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { type Ran, runLine } from '../testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-explain-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const rules = write(
  'rules.yaml',
  `domain: shop
limits:
  - { name: login, when: { path: /login }, key: [ip], limit: 5/minute, algorithm: sliding-window-log }
  - { name: search, when: { path: /search }, key: [ip], limit: 100/minute, algorithm: fixed-window }
  - { name: everyone, key: [], limit: 1000/s, algorithm: token-bucket }
`,
)
/** A line of a record: seconds and what is asked. */
const line = (second: number, asked: object, allowed = true): string =>
  JSON.stringify({
    time: `2026-01-01T00:00:${String(second).padStart(2, '0')}.250000Z`,
    api: 'http',
    domain: 'shop',
    asked,
    allowed,
    policy: 'login',
    remaining: 0,
    waitMs: 0,
  })
const login = (ip: string) => ({ request: { method: 'POST', path: '/login', ip } })
const LINES = [
  ...[0, 1, 2].map((second) => line(second, login('192.0.2.1'))),
  line(3, login('192.0.2.2')),
  line(4, { ...login('192.0.2.1'), cost: 3 }, false),
  line(5, login('192.0.2.1')),
  line(6, login('192.0.2.1')),
  line(7, login('192.0.2.1'), false),
]
const record = write('record.jsonl', `${LINES.join('\n')}\n`)

const explain = (...argv: string[]): Promise<Ran> => runLine(['explain', rules, ...argv])
const asJson = async (...argv: string[]) => JSON.parse((await explain(...argv, '--format', 'json')).out)

describe('sluice explain, of a decision that happened', () => {
  it('says which rules met it, what was left, why it was refused, and what would have let it pass', async () => {
    expect(await explain('--log', record, '--at', '2026-01-01T00:00:04Z', '--key', '192.0.2.1')).toEqual({
      code: 0,
      err: '',
      out: [
        'shop: 2 of 3 apply; at 2026-01-01T00:00:04.250Z, after 4 requests, the request is refused: login decides',
        '',
        '+ login applies',
        '  key      192.0.2.1',
        '  plan     sliding-window-log, 5 per 1 min',
        '  figures  refuses, retry after 56000 ms; 2 of 5 remain',
        '',
        '- search: path is not /search',
        '',
        '+ everyone applies',
        '  key      (everyone)',
        '  plan     token-bucket, 1000 per 1 s',
        '  figures  admits; 1000 of 1000 remain',
        '',
        'It would have passed',
        '- 56000 ms later, if nobody else had come',
        '- with a cost of 2',
        '- with a limit of 6 in place of 5 in login, from the first request on',
        '',
        '           recorded  replayed',
        'answer     refused   refused',
        'policy     login     login',
        'remaining  0         2',
        'wait       0 ms      56000 ms',
        'They differ. Why that can be:',
        '- Other rules may have been in force.',
        '- What was used before the log begins is not known.',
        '- Other nodes may have counted on the same store: name their logs, too.',
        '',
      ].join('\n'),
    })
  })

  it('finds a request by its line, in its log or alone', async () => {
    const within = await explain('--log', record, '--line', LINES[7]!)
    expect(within.out).toContain('after 7 requests, the request is refused: login decides')
    expect(within.out).toContain('- with a limit of 9 in place of 5 in login')
    expect(within.out).toContain('answer     refused   refused\n')
    const alone = await explain('--line', LINES[7]!)
    expect(alone.out).toContain('with nothing before it, the request is admitted: login decides')
    expect(alone.out).toContain('answer     refused   admitted\n')
    expect(alone.out).toContain('- Nothing before it was replayed: name its log with --log.\n')
    const access = '192.0.2.9 - - [01/Jan/2026:00:00:09 +0000] "POST /login HTTP/1.1" 429 5'
    const { out } = await explain('--line', access)
    expect(out).toContain('at 2026-01-01T00:00:09.000Z, with nothing before it, the request is admitted')
    expect(out).toContain(
      '        recorded    replayed\nanswer  status 429  admitted\nThey differ. Why that can be:\n- These rules, or any, may not have been in force.\n',
    )
  })

  it('finds what was answered, also of one among equal ones at one instant, in packed and rotated records', async () => {
    const equal = [true, true, false].map((allowed, i) =>
      JSON.stringify({
        ...JSON.parse(line(9, login('192.0.2.5'), allowed)),
        remaining: [1, 0, 0][i],
        waitMs: allowed ? 0 : 60_000,
        ...(i === 1 && { degraded: true }),
      }),
    )
    const two = write(
      'two.yaml',
      'domain: shop\nlimits: [{ name: login, key: [ip], limit: 2/minute, algorithm: sliding-window-log }]\n',
    )
    const newer = join(folder, 'equal.jsonl.gz')
    writeFileSync(newer, gzipSync(`${equal.join('\n')}\n`))
    const logs = ['--log', record, '--log', newer]
    const { out, err } = await runLine(['explain', two, ...logs, '--key', '192.0.2.5'])
    expect(err).toBe('')
    expect(out).toContain(
      [
        '           recorded  replayed',
        'answer     refused   refused',
        'policy     login     login',
        'remaining  0         0',
        'wait       60000 ms  60000 ms',
        'Both agree.',
        '',
      ].join('\n'),
    )
    const first = await runLine([
      'explain',
      rules,
      ...logs,
      '--at',
      '2026-01-01T00:00:09.250Z',
      '--format',
      'json',
    ])
    expect(JSON.parse(first.out)).toMatchObject({
      recorded: { allowed: true, remaining: 1 },
      decision: { remaining: 4 },
      differences: ['remaining'],
    })
    const degraded = await runLine(['explain', rules, '--line', equal[1]!])
    expect(degraded.out).toContain('- It was decided without the store, by one node alone.\n')
  })

  it('names a rule of the record that these rules do not have', async () => {
    const renamed = line(1, login('192.0.2.1')).replace('"login"', '"signin"')
    const { out } = await explain('--line', renamed)
    expect(out).toContain('policy     signin    login\n')
    expect(out).toContain('- Other rules were in force: these have no signin.\n')
  })

  it.each([
    [200, 'They differ'],
    [429, 'Both agree'],
    [503, 'That status may be'],
  ])('reads the status %d of an access log', async (status, said) => {
    const access = (second: number): string =>
      `192.0.2.9 - - [01/Jan/2026:00:00:0${second} +0000] "POST /login HTTP/1.1" ${status} 5\n`
    const log = write('access.log', [0, 1, 2, 3, 4, 5].map(access).join(''))
    const { out } = await explain('--log', log, '--key', '192.0.2.9')
    expect(out).toContain(`answer  status ${status}  refused\n${said}`)
  })

  it('takes the first of a key that is refused, where no time is given', async () => {
    const account = await asJson('--log', record, '--key', '192.0.2.1')
    expect(account).toMatchObject({
      time: '2026-01-01T00:00:04.250Z',
      before: 4,
      decision: { allowed: false, policy: 'login', remaining: 2 },
      remedies: { waitMs: 56_000, cost: 2, limits: [{ policy: 'login', option: 'limit', is: 5, needed: 6 }] },
    })
  })

  it('is right about what would have let it pass, for each algorithm', async () => {
    const options = {
      'fixed-window': '',
      'sliding-window-log': '',
      'sliding-window-counter': '',
      'token-bucket': ', burst: 5',
      gcra: ', burst: 5',
      'leaky-bucket': ', burst: 5',
      concurrency: '',
    }
    for (const [algorithm, more] of Object.entries(options)) {
      const text = (value: number): string => {
        const raised = more.includes('burst') ? more.replace('5', String(value)) : more
        const quota = `${more.includes('burst') ? 5 : value}/minute`
        return `domain: shop\nlimits: [{ name: login, key: [ip], limit: ${quota}, algorithm: ${algorithm}${raised} }]\n`
      }
      const file = write(`${algorithm}.yaml`, text(5))
      const { out, err } = await runLine([
        'explain',
        file,
        '--log',
        record,
        '--key',
        '192.0.2.1',
        '--format',
        'json',
      ])
      expect({ algorithm, err }).toEqual({ algorithm, err: '' })
      const { remedies, time } = JSON.parse(out)
      const { needed } = remedies.limits[0]
      const allowedWith = async (value: number): Promise<boolean> => {
        const raised = write('raised.yaml', text(value))
        const ran = await runLine([
          'explain',
          raised,
          '--log',
          record,
          '--at',
          time,
          '--key',
          '192.0.2.1',
          '--format',
          'json',
        ])
        return JSON.parse(ran.out).decision.allowed
      }
      expect({ algorithm, passes: await allowedWith(needed), below: await allowedWith(needed - 1) }).toEqual({
        algorithm,
        passes: true,
        below: false,
      })
    }
  })

  it.each([
    [['--log', record], /say which decision: --at TIME, --key KEY or both, or --line TEXT/],
    [['--at', '2026-01-01T00:00:04Z'], /name the log of the decision/],
    [['--log', '-', '--key', 'k'], /--log must be files/],
    [['--log', record, '--at', 'noon'], /--at must be a time such as/],
    [['--log', record, '--at', '2026-01-01T00:01:00Z'], /record\.jsonl has no such request/],
    [['--log', record, '--at', '2026-01-01T00:00:04.2Z', '--key', 'nobody'], /has no such request/],
    [['--line', LINES[0]!, '--key', 'k'], /--line names a request by itself/],
    [['--log', record, '--key', '198.51.100.1'], /has no refused request that charges "198.51.100.1"/],
    [['--line', 'nonsense'], /the line is no request that these rules can decide: /],
    [['--request', '-', '--key', 'k'], /--request is a request of your own/],
    [[], /name the request: --request FILE/],
  ])('exits 2 for %j', async (argv, message) => {
    const { code, out, err } = await explain(...argv)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
  })
})
