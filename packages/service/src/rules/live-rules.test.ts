import { afterEach, expect, test, vi } from 'vitest'
import { type Answered, bench, post, rulesFolder, type ServiceBench } from '../testing.ts'
import { LiveRules, type Reload } from './live-rules.ts'
import { loadHere } from './load-rules.ts'

const rulesOf = (limit: string, more = ''): string =>
  `domain: d\nlimits:\n  - { name: n, key: [user], limit: ${limit}, algorithm: fixed-window${more} }\n`
const MISTAKE = 'domain: d\nlimits:\n  - { name: n, key: [user], limit: 5/minuet }\n'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function open(rulebook: string): Promise<ServiceBench> {
  const service = await bench(rulebook)
  opened.push(service)
  return service
}
const use = ({ http }: ServiceBench, cost: number): Promise<Answered> =>
  post(http, '/v1/check', { domain: 'd', request: { attributes: { user: 'ada' } }, cost })

async function change(service: ServiceBench, rulebook: string): Promise<Reload> {
  await service.folder.write('rules.yaml', rulebook)
  return service.rules.reload()
}

test('FB-084: raised from 10 to 20 with 10 used, and to 30 with 15 used, what was used counts', async () => {
  const service = await open(rulesOf('10/hour'))
  await use(service, 10)
  expect(await change(service, rulesOf('20/hour'))).toEqual({ result: 'changed' })
  expect((await use(service, 5)).body).toMatchObject({ limit: 20, remaining: 5 })
  await change(service, rulesOf('30/hour'))
  expect((await use(service, 0)).body).toMatchObject({ limit: 30, remaining: 15 })
})

test('FB-084: lowered from 5,000,000 to 10 with 35 used, nothing is left', async () => {
  const service = await open(rulesOf('5000000/hour'))
  await use(service, 35)
  await change(service, rulesOf('10/hour'))
  expect((await use(service, 0)).body).toMatchObject({ limit: 10, remaining: 0 })
  expect((await use(service, 1)).body).toMatchObject({ allowed: false, remaining: 0 })
})

test('a mistake changes nothing, and is kept with its place until it is put right', async () => {
  const service = await open(rulesOf('10/hour'))
  await use(service, 4)
  const reload = await change(service, MISTAKE)
  expect(reload.result).toBe('refused')
  expect(service.rules.failure).toMatchObject({
    problems: [
      { file: expect.stringContaining('rules.yaml'), line: 3, message: expect.stringContaining('minuet') },
    ],
  })
  expect((await use(service, 1)).body).toMatchObject({ limit: 10, remaining: 5 })
  await change(service, rulesOf('10/hour'))
  expect(service.rules.failure).toBeUndefined()
})

test('what only compiling finds is a mistake like any other', async () => {
  const service = await open(rulesOf('10/hour'))
  expect((await change(service, rulesOf('10/hour', ', replaces: [n]'))).result).toBe('refused')
  expect((await use(service, 1)).body.limit).toBe(10)
})

test('rules that are gone are a mistake: the limits stay', async () => {
  const service = await open(rulesOf('10/hour'))
  await service.folder.remove()
  expect((await service.rules.reload()).result).toBe('refused')
  expect((await use(service, 1)).body.limit).toBe(10)
})

test('the same content again is no change', async () => {
  const service = await open(rulesOf('10/hour'))
  const { live } = service.rules
  expect(await change(service, rulesOf('10/hour'))).toEqual({ result: 'unchanged' })
  expect(service.rules.live).toBe(live)
})

test('OF-45: files that are as they were are not made into rules again, whether they were right or wrong', async () => {
  const reload = vi.fn(loadHere)
  const service = await bench(rulesOf('10/hour'), {}, reload)
  opened.push(service)
  expect(await service.rules.reload()).toEqual({ result: 'unchanged' })
  expect(reload).not.toHaveBeenCalled()
  const refused = await change(service, MISTAKE)
  expect(refused.result).toBe('refused')
  expect(await service.rules.reload()).toEqual(refused)
  expect(reload).toHaveBeenCalledTimes(1)
  expect(await change(service, rulesOf('10/hour'))).toEqual({ result: 'unchanged' })
})

test('a domain has been in force since it last changed, a failure since it first failed', async () => {
  const service = await open(rulesOf('10/hour'))
  const began = service.clock.now() / 1_000
  service.clock.advance(1_000)
  await service.folder.write('other.yaml', rulesOf('1/hour').replace('domain: d', 'domain: e'))
  await service.rules.reload()
  const since = [...service.rules.live!.domains.values()].map((domain) => [domain.domain.name, domain.since])
  expect(since.sort()).toEqual([
    ['d', began],
    ['e', began + 1_000],
  ])
  await change(service, MISTAKE)
  service.clock.advance(1_000)
  await service.rules.reload()
  expect(service.rules.failure!.since).toBe(began + 1_000)
})

test('reloads run one at a time, and those that wait are one', async () => {
  const folder = await rulesFolder({ 'rules.yaml': rulesOf('1/hour') })
  opened.push({ close: folder.remove })
  const told: string[] = []
  const rules = new LiveRules({
    paths: [folder.path],
    settleMs: 0,
    load: {},
    reload: loadHere,
    compile: {},
    now: () => 0,
    observe: (event) => event.type === 'reloaded' && told.push(event.result),
  })
  const first = rules.reload()
  await Promise.resolve()
  const later = [rules.reload(), rules.reload(), rules.reload()]
  expect(new Set(await Promise.all(later)).size).toBe(1)
  expect(await first).toEqual({ result: 'changed' })
  expect(told).toEqual(['changed', 'unchanged'])
})

test('network rules are for firewalls: a domain of these alone is unknown, and they cannot replace the last limits', async () => {
  const service = await open(rulesOf('10/hour'))
  const network = 'domain: net\nnetwork: [{ name: syn, port: 80, key: [ip], limit: 5/second }]\n'
  await service.folder.write('network.yaml', network)
  expect(await service.rules.reload()).toEqual({ result: 'unchanged' })
  const { status } = await post(service.http, '/v1/check', { domain: 'net', request: { ip: '192.0.2.1' } })
  expect(status).toBe(404)
  await service.folder.write('network.yaml', network.replaceAll('syn', 'ack'))
  expect(await change(service, network)).toMatchObject({
    result: 'refused',
    error: {
      problems: [
        expect.objectContaining({ line: 2, message: expect.stringContaining('network rules alone') }),
      ],
    },
  })
  expect((await use(service, 1)).body.limit).toBe(10)
})
