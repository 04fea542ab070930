import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runLine } from '../testing.ts'

const RULES = `domain: api
limits:
  - { name: everyone, key: [], limit: 1000/second }
  - { name: plan, key: [tenant], limit: { by: plan, pro: 4/hour, otherwise: 2/hour }, algorithm: fixed-window }
`
const DAY = 86_400_000
const LOG = `t_ms,tenant,plan,status,tokens
0,acme,pro,200,10
1,acme,pro,200,10
2,free,,200,1
3,free,,200,1
4,free,,429,1
5,,,200,5
${DAY},acme,pro,200,7
`

let folder: string
let rules: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-usage-'))
  rules = join(folder, 'rules.yaml')
  writeFileSync(rules, RULES)
})
afterAll(() => rmSync(folder, { recursive: true }))

const usage = (...more: string[]) => runLine(['usage', '--log', '-', ...more], LOG)

describe('Acceptance 15.7: sluice usage', () => {
  it('sums up each day, with the share of the plan', async () => {
    expect(await usage('--by', 'tenant', rules)).toEqual({
      code: 0,
      err: '',
      out: `1970-01-01  requests  units  refused   share
free               3      2        1  4.17 %
acme               2      2        0  2.08 %
(none)             1      1        0       –

1970-01-02  requests  units  refused   share
acme               1      1        0  1.04 %
`,
    })
  })

  it('is CSV', async () => {
    const { out } = await usage('--by', 'tenant', rules, '--format', 'csv')
    expect(out).toBe(`day,caller,requests,units,refused,share
1970-01-01,free,3,2,1,${2 / 48}
1970-01-01,acme,2,2,0,${2 / 96}
1970-01-01,,1,1,0,
1970-01-02,acme,1,1,0,${1 / 96}
`)
  })

  it('is JSON', async () => {
    const { out } = await usage('--by', 'tenant', rules, '--format', 'json')
    expect(JSON.parse(out)).toEqual({
      days: [
        {
          day: '1970-01-01',
          callers: [
            { caller: 'free', requests: 3, units: 2, refused: 1, share: 2 / 48 },
            { caller: 'acme', requests: 2, units: 2, refused: 0, share: 2 / 96 },
            { caller: '', requests: 1, units: 1, refused: 0, share: null },
          ],
          others: { requests: 0, units: 0, refused: 0 },
        },
        expect.objectContaining({ day: '1970-01-02' }),
      ],
      requests: 7,
      unreadable: 0,
    })
    expect(
      JSON.parse((await runLine(['usage', '--by', 'tenant', '--log', '-', '--format', 'json'], '')).out),
    ).toEqual({
      days: [],
      requests: 0,
      unreadable: 0,
    })
  })

  it('takes what the log has with status 429 for refused, without rules', async () => {
    const { out } = await usage('--by', 'tenant', '--cost-column', 'tokens', '--format', 'csv')
    expect(out.split('\n').slice(1, 4)).toEqual([
      '1970-01-01,acme,2,20,0,',
      '1970-01-01,,1,5,0,',
      '1970-01-01,free,3,2,1,',
    ])
  })

  it('tells callers apart by any attribute, or part of a key', async () => {
    const byPlan = await usage('--by', 'plan', '--format', 'csv')
    expect(byPlan.out).toContain('1970-01-01,pro,2,2,0,\n')
    const log =
      '192.0.2.1 - - [01/Jan/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12\n192.0.2.9 - - [01/Jan/2026:12:00:01 +0000] "GET /x HTTP/1.1" 200 12\n'
    const byNetwork = await runLine(['usage', '--by', 'ip/24', '--log', '-', '--format', 'csv'], log)
    expect(byNetwork.out).toMatch(/2026-01-01,192\.0\.2\.0\/24,2,2,0,\n/)
  })

  it('shows the share of the limit that is named', async () => {
    const { out } = await usage('--by', 'tenant', rules, '--policy', 'everyone', '--format', 'csv')
    expect(out).toContain(`1970-01-01,acme,2,2,0,${2 / 86_400_000}\n`)
  })

  it('says so where no request has what callers are told apart by', async () => {
    const { code, err } = await usage('--by', 'tennant')
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringContaining('has "tennant": all count as (none)\n'),
    })
    expect((await usage('--by', 'tenant')).err).toBe('')
  })

  it('writes no formula into a CSV, and keeps its cells apart', async () => {
    const log = 't_ms,tenant\n0,"=1+1"\n1,"a,""b"\n'
    const { out } = await runLine(['usage', '--by', 'tenant', '--log', '-', '--format', 'csv'], log)
    for (const line of out.trimEnd().split('\n').slice(1))
      expect(line).toMatch(/^1970-01-01,(?:"[^"]*(?:""[^"]*)*"|[^=",][^",]*),1,1,0,$/)
  })

  it.each([
    [[], /say how callers are told apart, such as --by tenant/],
    [['--by', 'a b'], /"a b" is no part of a key; there are ip/],
    [['--by', 'tenant', '--policy', 'x'], /no limit is named "x"/],
  ])('used wrongly, as %j, exits 2', async (more, message) => {
    const { code, err } = await usage(...more)
    expect(code).toBe(2)
    expect(err).toMatch(message)
  })
})
