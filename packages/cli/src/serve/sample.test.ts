import { compile, matchDescriptors, matchRequest } from '@sluice/limiter/rules'
import { loadText } from '@sluice/rulebook'
import { describe, expect, it } from 'vitest'
import { samplesOf } from './sample.ts'

function samples(yaml: string): ReturnType<typeof samplesOf> {
  const domains = loadText(yaml)
  return samplesOf(domains, compile(domains))
}

describe('a sample', () => {
  it.each([
    ['key: []'],
    ['key: [ip]'],
    ['key: [ip/24, user, tenant, api-key, route, method, path, host]'],
    ['key: ["header:X-Model", "cookie:sid", "query:q", "attribute:team", "attribute:mail|fold"]'],
    ['key: ["param:id"], when: { path: "/shops/:id/**" }'],
    ['key: ["param:id"]'],
    [
      'key: [user], when: { method: [PUT, POST], path: ["/a/*/b*", /c], host: ["*.shop.example"], ip: [10.0.0.0/8] }',
    ],
    ['key: [], when: { header: { X-Plan: [free, pro] }, query: { v: "2" } }'],
    ['key: ["header:x-plan"], when: { header: { X-Plan: free } }'],
  ])('meets a limit of %s', (rule) => {
    const yaml = `domain: d\nlimits: [{ name: n, limit: 5/minute, ${rule} }]\n`
    const [sample] = samples(yaml)
    expect(sample).toMatchObject({ rule: 'n', body: { domain: 'd' } })
    const found = matchRequest(compile(loadText(yaml)), 'd', sample!.body.request!)
    expect(found.steps.map(({ rule }) => rule.name)).toEqual(['n'])
  })

  it('is of the first rule that can be met', () => {
    const [limits, ...more] = samples(`
domain: d
limits:
  - { name: exempt, key: [ip], limit: 5/minute, exempt: [203.0.113.0/24] }
  - { name: other, key: [ip], limit: 5/minute }
`)
    expect(more).toEqual([])
    expect(limits).toMatchObject({ rule: 'other' })
  })

  it.each([
    ['- { key: a, rate_limit: { unit: day, requests_per_unit: 5 } }', 'a'],
    ['- { key: a, value: "x*y", rate_limit: { unit: day, requests_per_unit: 5 } }', 'a_x*y'],
    [
      '- { key: a, value: b, descriptors: [{ key: c, rate_limit: { unit: day, requests_per_unit: 5 } }] }',
      'a_b.c',
    ],
    [
      '- { key: a, rate_limit: { unlimited: true } }\n  - { key: b, rate_limit: { unit: day, requests_per_unit: 5 } }',
      'b',
    ],
  ])('meets a descriptor of %s', (descriptors, rule) => {
    const yaml = `domain: d\ndescriptors:\n  ${descriptors}\n`
    const [sample] = samples(yaml)
    expect(sample).toMatchObject({ rule })
    expect(matchDescriptors(compile(loadText(yaml)), 'd', sample!.body.descriptors!).steps).toHaveLength(1)
  })
})
