import { describe, expect, it } from 'vitest'
import { rulesOf } from '../traces.test-support.ts'
import { sourceOf } from '../traffic/reading.test-support.ts'
import { simulateTraffic } from './simulate-traffic.ts'

const FIELDS =
  'time=t,ip=ip,method=method,path=path,host=host,user=user,referer=referer,user-agent=agent,tenant=tenant,plan=plan,units=units'
const LINE = {
  t: 1_767_225_600,
  ip: '192.0.2.1',
  method: 'GET',
  path: '/items/1?q=tea',
  host: 'a.example',
  user: 'ada',
  referer: 'https://a.example/',
  agent: 'curl/8',
  tenant: 'acme',
  plan: 'free',
  units: '1',
}

/** Two requests that differ in one field, through one limit. */
async function matchedOf(
  limit: string,
  change: Partial<Record<keyof typeof LINE, string>>,
): Promise<[number, number]> {
  const log = [LINE, { ...LINE, ...change }].map((line) => `${JSON.stringify(line)}\n`).join('')
  const { policies } = await simulateTraffic([sourceOf(log)], {
    ...rulesOf(`  - { name: a, ${limit} }\n`),
    fields: FIELDS,
  })
  return [policies[0]!.matched, policies[0]!.denied]
}

describe('what a limit depends on is read of each line', () => {
  it.each([
    ['ip', { ip: '192.0.2.2' }],
    ['ip/24', { ip: '198.51.100.2' }],
    ['user', { user: 'bob' }],
    ['"user|fold"', { user: 'bob' }],
    ['tenant', { tenant: 'other' }],
    ['attribute:plan', { plan: 'pro' }],
    ['path', { path: '/items/2' }],
    ['method', { method: 'POST' }],
    ['host', { host: 'b.example' }],
    ['host', { path: 'http://b.example/items/1' }],
    ['header:Referer', { referer: 'https://b.example/' }],
    ['header:user-agent', { agent: 'curl/9' }],
    ['query:q', { path: '/items/1?q=coffee' }],
    ['param:id', { path: '/items/2' }],
  ] as const)('for its key, %s', async (part, change) => {
    const when = part === 'param:id' ? 'when: { path: "/items/:id" }, ' : ''
    const own = part === 'host' && 'path' in change ? { host: '' } : {}
    const line = { ...change, ...own }
    expect(await matchedOf(`${when}key: [${part}], limit: 1/hour`, line)).toEqual([2, 0])
    expect(await matchedOf(`${when}key: [${part}], limit: 1/hour`, {})).toEqual([2, 1])
  })

  it.each([
    ['method: GET', { method: 'POST' }],
    ['path: /items/1', { path: '/other' }],
    ['host: a.example', { host: 'b.example' }],
    ['ip: 192.0.2.1', { ip: '192.0.2.2' }],
    ['header: { user-agent: curl/8 }', { agent: 'curl/9' }],
    ['query: { q: tea }', { path: '/items/1?q=coffee' }],
  ] as const)('for its condition, %s', async (when, change) => {
    expect(await matchedOf(`when: { ${when} }, key: [], limit: 9/hour`, change)).toEqual([1, 0])
  })

  it('for its cost, its plans, its exceptions and its overrides', async () => {
    expect(await matchedOf('key: [], limit: 9/hour, cost: "attribute:units"', { units: '9' })).toEqual([2, 1])
    const plans = 'key: [], limit: { by: plan, free: 1/hour, pro: 9/hour, otherwise: 0/hour }'
    expect(await matchedOf(plans, { plan: 'pro' })).toEqual([2, 0])
    expect(await matchedOf('key: [], limit: 1/hour, exempt: [192.0.2.2]', { ip: '192.0.2.2' })).toEqual([
      1, 0,
    ])
    const overrides = 'key: [], limit: 1/hour, overrides: [{ match: 192.0.2.2, limit: 9/hour }]'
    expect(await matchedOf(overrides, { ip: '192.0.2.2' })).toEqual([2, 0])
  })
})
