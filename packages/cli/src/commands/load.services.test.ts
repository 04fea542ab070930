import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rateLimit } from '@sluice/limiter/adapters/node'
import { compile } from '@sluice/limiter/rules'
import { loadRulebook } from '@sluice/rulebook'
import { createService } from '@sluice/service'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { main } from '../main.ts'
import { fakeIo, runLine } from '../testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-load-'))
afterAll(() => rmSync(folder, { recursive: true }))
const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

function rulesFile(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** A service that keeps `rules`. @returns the URL of its checks */
async function serviceOf(rules: string): Promise<string> {
  const service = createService({
    rules: [rules],
    watch: false,
    http: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    log: { level: 'silent' },
  })
  stops.push(() => service.stop())
  return `${(await service.start()).http}/v1/check`
}

async function serverOf(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const rulesOf = (factor: number): string => `
domain: d
limits:
  - { name: bucket, when: { path: /a }, key: [ip], limit: ${10 * factor}/second, burst: ${20 * factor} }
  - { name: window, when: { path: /b }, key: [user], limit: ${10 * factor}/s, algorithm: fixed-window }
  - { name: log, when: { path: /c }, key: ["header:x-key"], limit: ${10 * factor}/s, algorithm: sliding-window-log }
  - { name: counter, when: { path: /d }, key: [ip], limit: ${10 * factor}/s, algorithm: sliding-window-counter }
  - { name: gcra, when: { path: /e }, key: [ip], limit: ${10 * factor}/s, algorithm: gcra }
  - { name: interval, when: { path: /f }, key: [ip], limit: ${10 * factor}/s, refill: interval }
  - { name: leaky, when: { path: /g }, key: [ip], limit: ${10 * factor}/s, algorithm: leaky-bucket }
  - { name: hourly, when: { path: /h }, key: [ip], limit: ${10 * factor}/h, algorithm: sliding-window-log }
`
const ALL = ['bucket', 'window', 'log', 'counter', 'gcra', 'interval', 'leaky', 'hourly']

describe('sluice load --rules (Acceptance 14.1)', () => {
  const rules = rulesFile('rules.yaml', rulesOf(1))
  const brokenBy = async (target: string) => {
    const { code, out, err } = await runLine(['load', target, '--rules', rules, '--format', 'json'])
    expect(err).toBe('')
    const report = JSON.parse(out) as { rules: { name: string; breaches: string[]; acrossEdge?: unknown }[] }
    return { code, rules: report.rules, broken: report.rules.filter(({ breaches }) => breaches.length > 0) }
  }

  it('passes a service that keeps its rules', async () => {
    const { code, rules: tried, broken } = await brokenBy(await serviceOf(rules))
    expect(broken).toEqual([])
    expect(code).toBe(0)
    expect(tried.map(({ name }) => name)).toEqual(ALL)
    expect(tried.filter(({ acrossEdge }) => acrossEdge === undefined).map(({ name }) => name)).toEqual([
      'hourly',
    ])
  })

  it.each([
    ['halved', 0.5, 'no fewer than'],
    ['tripled', 3, 'more than the bound'],
  ])('does not pass a service with every limit %s', async (_what, factor, words) => {
    const { code, broken } = await brokenBy(await serviceOf(rulesFile('other.yaml', rulesOf(factor))))
    expect(code).toBe(1)
    expect(broken.map(({ name }) => name)).toEqual(ALL)
    for (const { name, breaches } of broken) expect(breaches.join(), name).toContain(words)
  })
})

describe('sluice load --rules, of an application', () => {
  it('tries the limits by addresses and headers, and lists those that only the application knows', async () => {
    const path = rulesFile(
      'app.yaml',
      `
domain: app
limits:
  - { name: address, when: { path: /a }, key: [ip], limit: 10/s, algorithm: sliding-window-log }
  - { name: header, when: { path: /b }, key: ["header:x-key"], limit: 5/s }
  - { name: user, when: { path: /c }, key: [user], limit: 5/s }
`,
    )
    const limit = rateLimit({ rules: compile(await loadRulebook([path])), domain: 'app', trustProxy: false })
    const target = await serverOf(async (request, response) => {
      if (await limit(request, response)) response.end('hello')
    })
    const { code, out } = await runLine(['load', target, '--rules', path])
    expect(out).toMatch(/^address .* ok$/m)
    expect(out).toMatch(/^header .* ok$/m)
    expect(out).toContain('user is not tried: only the application knows user')
    expect(code).toBe(0)
  })
})

describe('Acceptance 14.2: no fault is found', () => {
  const findFaults = async (target: string, ...more: string[]) => {
    const { code, out } = await runLine(['load', target, '--find-faults', '--format', 'json', ...more])
    const { findings } = JSON.parse(out) as {
      findings: { fault: string; found?: boolean; evidence: string }[]
    }
    expect(findings.filter(({ found }) => found)).toEqual([])
    expect(findings.filter(({ found }) => found === undefined)).toEqual([])
    expect(code).toBe(0)
  }

  it('in a service, by algorithm', async () => {
    const path = rulesFile(
      'faults.yaml',
      `
domain: d
limits:
  - { name: bucket, when: { path: /bucket }, key: [user], limit: 10/1500ms }
  - { name: log, when: { path: /log }, key: [user], limit: 10/1500ms, algorithm: sliding-window-log }
  - { name: counter, when: { path: /counter }, key: [user], limit: 10/1500ms, algorithm: sliding-window-counter }
`,
    )
    const target = await serviceOf(path)
    const body = (to: string) => `{"domain":"d","request":{"path":"/${to}","attributes":{"user":"{key}"}}}`
    const limit = ['--limit', '10/1500ms']
    await Promise.all([
      findFaults(target, ...limit, '--body', body('bucket'), '--burst', '10'),
      findFaults(target, ...limit, '--body', body('log')),
      findFaults(target, ...limit, '--body', body('counter')),
    ])
  })

  it('in middleware', async () => {
    const limit = rateLimit({
      limit: 10,
      period: '1500ms',
      algorithm: 'sliding-window-log',
      trustProxy: false,
    })
    const target = await serverOf(async (request, response) => {
      if (await limit(request, response)) response.end('hello')
    })
    await findFaults(target, '--limit', '10/1500ms', '--own-addresses')
  })
})

describe('sluice load', () => {
  it('Acceptance 14.3: sends by its schedule, however slow the answers are, and counts waits from it', async () => {
    let last = Promise.resolve()
    const target = await serverOf((_request, response) => {
      last = last.then(() => new Promise((resolve) => setTimeout(resolve, 20)))
      void last.then(() => response.end())
    })
    const { code, out } = await runLine([
      'load',
      target,
      '--rate',
      '100',
      '--duration',
      '1s',
      '--format',
      'json',
    ])
    const report = JSON.parse(out)
    expect(code).toBe(0)
    expect(report).toMatchObject({ sent: 100, admitted: 100, unsent: 0, statuses: { 200: 100 } })
    // One after the other takes 2 s; a client that waited for answers would have seen 20 ms each.
    expect(report.latencyMs.max).toBeGreaterThan(900)
    expect(report.latencyMs.p99).toBeGreaterThan(report.latencyMs.p50)
    expect(Object.keys(report.latencyMs)).toEqual(['mean', 'p50', 'p90', 'p99', 'p999', 'max'])
  })

  it('Acceptance 14.3: sends a log at its times, in any format that is read', async () => {
    const seen: (string | undefined)[] = []
    const target = await serverOf(({ method, url, headers }, response) => {
      seen.push(`${method} ${url} ${headers['x-client']}`)
      response.end()
    })
    const log = [
      '192.0.2.1 - - [01/Jan/2026:12:00:00 +0000] "GET /a?x=1 HTTP/1.1" 200 12',
      '192.0.2.2 - - [01/Jan/2026:12:00:02 +0000] "POST /b HTTP/1.1" 200 12',
    ]
    const { code, out } = await runLine(
      ['load', target, '--log', '-', '--speed', '20', '--header', 'X-Client: {key}'],
      `${log.join('\n')}\n`,
    )
    expect(code).toBe(0)
    expect(seen).toEqual(['GET /a?x=1 192.0.2.1', 'POST /b 192.0.2.2'])
    expect(out).toMatch(/^2 requests in .* s: 2 admitted/)
  })

  it('finds more than a limit admitted, refusals without a wait, and 503', async () => {
    let n = 0
    const target = await serverOf((_request, response) => {
      response.statusCode = n++ % 4 === 0 ? 503 : 200
      response.end()
    })
    const { code, out } = await runLine([
      'load',
      target,
      '--limit',
      '10/10s',
      '--rate',
      '100',
      '--duration',
      '500ms',
    ])
    expect(code).toBe(1)
    expect(out).toMatch(/^! 2\d requests more than the limit were admitted$/m)
    expect(out).toMatch(/^! 1\d refusals did not say how long to wait$/m)
    expect(out).toMatch(/^! 1\d answers had 503 instead of 429$/m)
  })

  it('keeps to the bound of a right limiter, for many keys', async () => {
    const target = await serviceOf(
      rulesFile(
        'keys.yaml',
        'domain: d\nlimits: [{ name: n, key: [user], limit: 5/500ms, algorithm: sliding-window-log }]\n',
      ),
    )
    const body = '{"domain":"d","request":{"attributes":{"user":"{key}"}}}'
    const bound = ['--limit', '5/500ms', '--algorithm', 'sliding-window-log']
    const { code, out } = await runLine([
      'load',
      target,
      '--body',
      body,
      ...bound,
      '--shape',
      'poisson',
      '--rate',
      '200',
      '--duration',
      '2s',
      '--format',
      'json',
    ])
    const report = JSON.parse(out)
    expect(report.breaches).toEqual([])
    expect(code).toBe(0)
    expect(report.refused).toBeGreaterThan(0)
    expect(report.overAdmission.atLeast).toBe(0)
    expect(report.findings.map(({ fault }: { fault: string }) => fault)).toEqual([
      'wait-too-short',
      'wait-too-long',
      'remaining-untrue',
    ])
  })

  it('exits with 2 where nothing answers', async () => {
    const target = ['http://127.0.0.1:1/', '--duration', '100ms', '--rate', '50']
    const { code, out, err } = await runLine(['load', ...target])
    expect(code).toBe(2)
    expect(out).toMatch(/0 admitted, 0 refused/)
    expect(err).toBe('sluice: no request was answered: does a server listen at http://127.0.0.1:1?\n')
  })

  it('Acceptance 14.4: stops on Ctrl-C, although nothing is answered', async () => {
    const target = await serverOf(() => undefined)
    const fake = fakeIo()
    const done = main(['load', target, '--rate', '50', '--duration', '1h', '--timeout', '60s'], fake.io)
    await vi.waitFor(() => expect(fake.signal('SIGINT')).toBe(true), 60_000)
    expect(await done).toBe(0)
    expect(fake.out()).toMatch(/0 admitted, 0 refused/)
  })

  it('Acceptance 14.4: loads nobody else, and no more than it may', async () => {
    const refused = async (...argv: string[]) => {
      const { code, err } = await runLine(['load', ...argv])
      expect(code).toBe(2)
      return err
    }
    expect(await refused('http://example.com/')).toContain('say so with --target-is-mine example.com')
    const here = 'http://127.0.0.1:1/'
    expect(await refused(here, '--rate', '100001')).toContain('--rate must be a number from 0.01 to 100000')
    expect(await refused(here, '--duration', '2h')).toContain('--duration must be a time from 1ms to 3600s')
    expect(await refused(here, '--connections', '1001')).toContain('--connections must be')
    expect(await refused(here, '--find-faults')).toContain('--limit COUNT/PERIOD')
    expect(await refused(here, '--find-faults', '--limit', '10/2s')).toContain('write {key} where the key is')
    expect(await refused(here, '--limit', '10/2s', '--algorithm', 'gcr')).toContain('did you mean "gcra"?')
    expect(await refused()).toContain('name one target')
  })
})
