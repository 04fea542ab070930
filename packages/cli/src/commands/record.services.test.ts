import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pastDecisions, type RecordedAnswer, recordedAnswer, sourcesOf } from '@sluice/lab'
import { compile } from '@sluice/limiter/rules'
import { loadRulebook } from '@sluice/rulebook'
import { createService, type ServiceOptions } from '@sluice/service'
import { afterAll, describe, expect, it } from 'vitest'
import { runLine } from '../testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-record-'))
afterAll(() => rmSync(folder, { recursive: true }))

const SECRET = 'a secret of the test, long enough'
/** However slow a machine is, some requests find each limit reached; that in shadow mode has short windows besides. */
const RULES = join(folder, 'rules')
mkdirSync(RULES)
writeFileSync(
  join(RULES, 'shop.yaml'),
  `domain: shop
limits:
  - { name: fixed, when: { path: /fixed }, key: [ip], limit: 5/365d, algorithm: fixed-window }
  - { name: log, when: { path: /log }, key: [ip/24], limit: 7/minute, algorithm: sliding-window-log }
  - { name: counter, when: { path: /counter }, key: [user], limit: 6/minute, algorithm: sliding-window-counter }
  - { name: bucket, when: { path: /bucket }, key: [attribute:team], limit: 20/minute, burst: 4, algorithm: token-bucket }
  - { name: gcra, when: { path: /gcra }, key: [ip, user], limit: 2/minute, burst: 2, algorithm: gcra }
  - { name: leaky, when: { path: /leaky }, key: [ip], limit: 3/minute, burst: 2, algorithm: leaky-bucket }
  - { name: plan, when: { path: /plan }, key: [user], limit: { by: tier, pro: 9/minute, otherwise: 3/minute }, algorithm: fixed-window, cost: attribute:tokens }
  - { name: trial, key: [ip], limit: 2/s, algorithm: fixed-window, mode: shadow }
`,
)
writeFileSync(
  join(RULES, 'messaging.yaml'),
  `domain: messaging
descriptors:
  - key: message_type
    value: marketing
    rate_limit: { unit: minute, requests_per_unit: 5 }
  - key: to
    rate_limit: { unit: second, requests_per_unit: 3 }
`,
)
const PATHS = ['fixed', 'log', 'counter', 'bucket', 'gcra', 'leaky', 'plan']

/** Runs a service that records, for as long as it is asked. */
async function recorded(
  name: string,
  ask: (http: string) => Promise<void>,
  record: Partial<ServiceOptions['record']> = {},
): Promise<string> {
  const file = join(folder, name)
  const service = createService({
    rules: [RULES],
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    secret: SECRET,
    log: { level: 'silent' },
    drainMs: 100,
    auth: { trusted: ['127.0.0.1'] },
    record: { file, ...record },
  })
  const { http } = await service.start()
  try {
    await ask(http)
  } finally {
    await service.stop()
  }
  return file
}

async function post(url: string, body: object): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
  await answer.text()
}

/** A few hundred questions by all APIs, several at once. */
async function traffic(http: string): Promise<void> {
  for (let round = 0; round < 60; round++) {
    const asked = [0, 1, 2, 3].map((i) => round * 4 + i)
    await Promise.all(
      asked.map(async (n) => {
        const path = `/${PATHS[n % PATHS.length]}`
        const ip = n % 5 === 0 ? `2001:db8::${n % 3}` : `203.0.113.${n % 4}`
        if (n % 6 === 0)
          return post(`${http}/json`, {
            domain: 'messaging',
            descriptors: [
              { entries: [{ key: 'message_type', value: n % 12 === 0 ? 'marketing' : 'news' }] },
              { entries: [{ key: 'to', value: `+4915${Math.floor(n / 6) % 3}` }] },
            ],
          })
        if (n % 6 === 1)
          return void (await (
            await fetch(`${http}/auth:domain=shop${path}?token=hush`, { headers: { 'x-forwarded-for': ip } })
          ).text())
        const attributes = {
          user: `user-${n % 3}`,
          team: 'blue|green',
          tier: n % 2 === 0 ? 'pro' : 'free',
          tokens: 1 + (n % 3),
          'api-key': 'sk_live_hush',
        }
        const request = {
          path,
          ip,
          method: 'POST',
          headers: { authorization: 'hush' },
          query: { q: 'hush' },
          attributes,
        }
        await post(`${http}/v1/check${n % 50 === 2 ? '?peek=true' : ''}`, { domain: 'shop', request })
      }),
    )
  }
}

const linesOf = (file: string): string[] => readFileSync(file, 'utf8').trimEnd().split('\n')

/** What is decided again must be what was decided: counters of both began empty. */
async function expectSameDecisions(file: string, domain: string): Promise<readonly RecordedAnswer[]> {
  const rules = compile(await loadRulebook([RULES]))
  const answers = linesOf(file)
    .map((line) => recordedAnswer(line)!)
    .filter((answer) => answer.domain === domain && answer.peek !== true)
    .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
  const again = []
  for await (const { decision, at } of pastDecisions(sourcesOf([file]), { rules, domain })) {
    const { allowed, policy, remaining, retryAfterMs: waitMs } = decision
    again.push(JSON.parse(JSON.stringify({ at, allowed, policy, remaining, waitMs })))
  }
  const figures = answers.map(({ time, allowed, policy, remaining, waitMs }) => ({
    at: Date.parse(time) * 1_000 + Number(time.slice(-4, -1)),
    allowed,
    policy,
    remaining,
    waitMs,
  }))
  expect(again).toEqual(figures)
  return answers
}

describe('a record of real traffic (Acceptance 15.6)', () => {
  it('gives the same decisions when it is replayed, of all APIs and algorithms', async () => {
    const file = await recorded('record.jsonl', traffic)
    const shop = await expectSameDecisions(file, 'shop')
    const messaging = await expectSameDecisions(file, 'messaging')
    const lines = linesOf(file)
    expect(lines).toHaveLength(240)
    expect(shop.length + messaging.length + lines.filter((line) => line.includes('"peek":true')).length).toBe(
      240,
    )
    expect(new Set(shop.filter(({ allowed }) => !allowed).map(({ policy }) => policy))).toEqual(
      new Set(PATHS),
    )
    expect(messaging.some(({ allowed }) => !allowed)).toBe(true)
    // The command line sees the format and the domain by itself.
    const { code, out } = await runLine(['simulate', RULES, file, '--domain', 'shop', '--format', 'json'])
    expect(code).toBe(0)
    const report = JSON.parse(out)
    expect(report).toMatchObject({ requests: shop.length, unreadable: 0, late: 0 })
    for (const { name, denied } of report.policies as { name: string; denied: number }[]) {
      if (name === 'trial') continue
      expect({ name, denied }).toEqual({
        name,
        denied: shop.filter(({ allowed, policy }) => !allowed && policy === name).length,
      })
    }
    const same = await runLine([
      'compare',
      RULES,
      RULES,
      '--log',
      file,
      '--domain',
      'messaging',
      '--format-in',
      'record',
      '--format',
      'json',
    ])
    expect(JSON.parse(same.out)).toMatchObject({
      requests: messaging.length,
      old: { denied: messaging.filter(({ allowed }) => !allowed).length },
      newlyDenied: { requests: 0 },
    })
  })

  it('holds no header, query, address or attribute as it was, and only its owner may read it', async () => {
    const file = await recorded('hashed.jsonl', traffic)
    const text = readFileSync(file, 'utf8')
    for (const secret of ['hush', '203.0.113', '2001:db8', 'user-', 'blue', '+4915', 'free'])
      expect(text).not.toContain(secret)
    expect(text).toContain('"tier":"pro"') // the rules name it
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('has as it is what record-plain names, but never an API key', async () => {
    const file = await recorded('plain.jsonl', traffic, { plain: ['ip', 'user', 'to', 'api-key'] })
    const text = readFileSync(file, 'utf8')
    for (const plain of ['203.0.113.1', '2001:db8::', 'user-1', '+49151']) expect(text).toContain(plain)
    for (const secret of ['hush', 'blue']) expect(text).not.toContain(secret)
    await expectSameDecisions(file, 'shop')
  })

  it('is read from its rotated files as one', async () => {
    const file = await recorded(
      'rotated.jsonl',
      async (http) => {
        for (let n = 0; n < 200; n++) {
          const request = { path: n % 2 === 0 ? '/fixed' : `/${'x'.repeat(15_000)}`, ip: '203.0.113.1' }
          await post(`${http}/v1/check`, { domain: 'shop', request })
        }
      },
      { megabytes: 1, files: 2 },
    )
    expect(
      readdirSync(folder)
        .filter((name) => name.startsWith('rotated'))
        .sort(),
    ).toEqual(['rotated.jsonl', 'rotated.jsonl.1'])
    for (const name of [file, `${file}.1`]) expect(statSync(name).size).toBeLessThanOrEqual(1_000_000)
    const { out } = await runLine(['simulate', RULES, `${file}*`, '--domain', 'shop', '--format', 'json'])
    const { requests, policies } = JSON.parse(out)
    expect({ requests, fixed: policies[0].denied }).toEqual({ requests: 200, fixed: 95 })
  })

  it('needs a file before anything is said about it', async () => {
    const { code, err } = await runLine(['serve', RULES, '--record-size', '5'])
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('without --record FILE') })
  })

  it('stops a start where its file cannot be written to', async () => {
    await expect(recorded('no/such/folder', async () => undefined)).rejects.toThrow(/record\.file: ENOENT/)
  })
})
