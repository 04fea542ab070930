import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { runLine } from '../testing.ts'

const rules = fileURLToPath(new URL('../../fixtures/rules/', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'sluice-simulate-'))
afterAll(() => rmSync(folder, { recursive: true }))

function line(second: number, { ip = '192.0.2.1', request = 'POST /login HTTP/1.1' } = {}): string {
  return `${ip} - - [17/May/2015:10:05:${String(second).padStart(2, '0')} +0000] "${request}" 200 5 "-" "curl/8"\n`
}

const LOG = [0, 1, 2, 3, 4, 5, 6].map((second) => line(second)).join('')

function simulate(log: string | Buffer, ...more: string[]): ReturnType<typeof runLine> {
  return runLine(['simulate', join(rules, 'shop.yaml'), '--log', '-', ...more], log)
}

async function report(log: string | Buffer, ...more: string[]): Promise<unknown> {
  const { code, out, err } = await simulate(log, '--format', 'json', ...more)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

describe('sluice simulate', () => {
  it('tells what each policy would have refused', async () => {
    expect(await simulate(`${LOG}nonsense\n${line(7, { ip: 'somewhere.example' })}`)).toEqual({
      code: 0,
      err: '',
      out: [
        '8 requests, 1 unreadable line',
        '  line 8: there is no time such as [17/May/2015:10:05:03 +0000]',
        '',
        'policy    requests  admitted  denied    share',
        'login            7         5       2  28.57 %',
        'search           0         0       0   0.00 %',
        'everyone         8         8       0   0.00 %',
        '',
        'Most denied by login:',
        '  192.0.2.1  2',
        '',
        'Passed over by login, for want of its key: 1 request',
        '',
      ].join('\n'),
    })
  })

  it('tells it as JSON, one entry for each policy', async () => {
    expect(await report(LOG)).toEqual({
      requests: 7,
      unreadable: 0,
      unreadableLines: [],
      late: 0,
      policies: [
        {
          name: 'login',
          matched: 7,
          admitted: 5,
          denied: 2,
          deniedShare: 2 / 7,
          missingKey: 0,
          top: [{ key: '192.0.2.1', denied: 2 }],
        },
        { name: 'search', matched: 0, admitted: 0, denied: 0, deniedShare: 0, missingKey: 0, top: [] },
        { name: 'everyone', matched: 7, admitted: 7, denied: 0, deniedShare: 0, missingKey: 0, top: [] },
      ],
    })
  })

  it('reads a file or standard input, plain or gzip, in any order of lines', async () => {
    const expected = await report(LOG)
    expect(await report(gzipSync(LOG))).toEqual(expected)
    expect(await report(LOG.trimEnd().split('\n').reverse().join('\n'))).toEqual(expected)
    const path = join(folder, 'access.log')
    writeFileSync(path, LOG)
    const { out } = await runLine(['simulate', join(rules, 'shop.yaml'), '--log', path, '--format', 'json'])
    expect(JSON.parse(out)).toEqual(expected)
  })

  it('names the first ten lines that are no request, and counts all', async () => {
    const found = await report(LOG + 'x\n'.repeat(12))
    expect(found).toMatchObject({ requests: 7, unreadable: 12 })
    const { unreadableLines } = found as { unreadableLines: { line: number }[] }
    expect(unreadableLines.map((each) => each.line)).toEqual([8, 9, 10, 11, 12, 13, 14, 15, 16, 17])
  })

  it('counts a request that no rule can judge as unreadable', async () => {
    const path = join(folder, 'cost.yaml')
    writeFileSync(
      path,
      'domain: d\nlimits: [{ name: a, key: [user], limit: 5/minute, cost: "attribute:tokens" }]\n',
    )
    const rows = 't_ms,key,tokens\n0,ada,3\n1,ada,-1\n'
    const { code, out } = await runLine(['simulate', path, '--log', '-', '--format=json'], rows)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ requests: 1, unreadable: 1, unreadableLines: [{ line: 3 }] })
  })

  it('asks by descriptors where they are named', async () => {
    const argv = ['simulate', join(rules, 'messaging.yaml'), '--log', '-', '--format', 'json']
    const rows = `t_ms,kind\n${'0,marketing\n'.repeat(7)}1,news\n2,\n`
    const found = await runLine([...argv, '--descriptor', 'message_type=kind'], rows)
    expect(JSON.parse(found.out)).toMatchObject({
      requests: 9,
      policies: [{ matched: 7, admitted: 5, denied: 2 }],
    })
    expect(JSON.parse((await runLine([...argv, '--descriptor', 'kind=kind'], rows)).out)).toMatchObject({
      policies: [{ name: 'message_type_marketing', matched: 0 }],
    })
    const fixed = await runLine([...argv, '--descriptor', "message_type='marketing'"], rows)
    expect(JSON.parse(fixed.out)).toMatchObject({ policies: [{ matched: 9, denied: 4 }] })
    const open = await runLine(argv, rows)
    expect(open.code).toBe(2)
    expect(open.err).toMatch(/messaging has descriptors alone: say what makes them, with --descriptor/)
  })

  it('chooses among the domains of a rulebook', async () => {
    const argv = ['simulate', join(rules, 'shop.yaml'), join(rules, 'messaging.yaml'), '--log', '-']
    expect((await runLine(argv, LOG)).err).toMatch(/2 domains, .*choose one with --domain/)
    expect((await runLine([...argv, '--domain', 'shop'], LOG)).code).toBe(0)
  })

  it('shows no control characters of a log', async () => {
    const path = join(folder, 'agent.yaml')
    writeFileSync(path, 'domain: d\nlimits: [{ name: a, key: ["header:user-agent"], limit: 1/day }]\n')
    const agent = line(0).replace('curl/8', '\u202e\\x1b[31m')
    const { out } = await runLine(['simulate', path, '--log', '-'], agent + agent)
    expect(out).toMatch(/Most denied by a:\n {2}\S+ {2}1\n/)
    expect(out).not.toContain('\x1b')
    expect(out).not.toContain('\u202e')
  })

  it.each([
    [
      ['--report', '/no/such/folder/page.html'],
      /cannot write \/no\/such\/folder\/page\.html: there is no such folder/,
    ],
    [['--held-lines', '1'], /--held-lines must be a whole number from 2 to 10000000, not "1"/],
    [['--descriptor', 'ip'], /descriptor ip: write key=COLUMN, or key='text'/],
    [['--format-in', 'csv'], /the first line of a CSV must name its columns/],
    [['--format-in', 'jsn'], /unknown --format-in "jsn" \(did you mean "json"\?\)/],
    [['--format-in', 'json'], /say where lines of JSON have their fields/],
    [['--fields', 'ip=a'], /the fields: it must say where the time is: time=PATH/],
  ])('used wrongly, as %j, exits 2', async (more, message) => {
    const { code, out, err } = await simulate(LOG, ...more)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
  })

  it('exits 2 when nothing in the file is a request', async () => {
    const { code, out } = await simulate('one\ntwo\n')
    expect(code).toBe(2)
    expect(out).toMatch(/^0 requests, 2 unreadable lines/)
    expect((await simulate('')).code).toBe(0)
  })

  it('exits 2 for gzip that is cut short, and leaves no empty page', async () => {
    const page = join(folder, 'cut-short.html')
    const { code, err } = await simulate(gzipSync(LOG).subarray(0, -9), '--report', page)
    expect(code).toBe(2)
    expect(err).toMatch(/cannot read standard input: its gzip data end too early/)
    expect(existsSync(page)).toBe(false)
  })

  it('OF-69 takes the log as the last operand', async () => {
    const shop = join(rules, 'shop.yaml')
    const log = join(folder, 'access.log')
    writeFileSync(log, LOG)
    const [operand, option] = [await runLine(['simulate', shop, log]), await simulate(LOG)]
    expect(operand).toEqual(option)
    expect(await runLine(['simulate', shop, '-'], LOG)).toEqual(option)
    for (const paths of [[shop], [shop, shop], [shop, rules], []]) {
      const { code, err } = await runLine(['simulate', ...paths])
      expect([code, err]).toEqual([2, expect.stringContaining('name the log behind the rules')])
    }
  })
})
