import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runLine } from '../testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-types-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const SHOP = `
domain: shop
limits:
  - name: plan
    when: { header: { X-Client: app }, query: { mode: fast } }
    key: [tenant, 'query:page', 'cookie:session', 'attribute:name|fold', ip/24, path]
    limit: { by: tier, free: 1/minute, otherwise: 2/minute }
    cost: header:X-Tokens
  - { name: it's 1, key: ['param:id', api-key], when: { path: '/o/:id' }, limit: 1/minute }
`
const MESSAGES = `
domain: messages
descriptors:
  - key: kind
    value: bulk
    descriptors: [{ key: to, rate_limit: { unit: day, requests_per_unit: 5 } }]
  - key: a*b
    rate_limit: { name: any, unit: day, requests_per_unit: 5 }
`
const EXPECTED = `// Written by \`sluice types\`. Do not edit.

/** The limits of each domain with the parts of their keys, and the names that its rules read. */
export type Limits = {
  messages: {
    limits: {
      any: 'a*b'
      'kind_bulk.to': 'kind' | 'to'
    }
    headers: never
    query: never
    attributes: never
    entries: \`a\${string}b\` | 'kind' | 'to'
  }
  shop: {
    limits: {
      "it's 1": 'api-key' | 'param:id'
      plan: 'attribute:name|fold' | 'cookie:session' | 'ip/24' | 'path' | 'query:page' | 'tenant'
    }
    headers: 'cookie' | 'x-client' | 'x-tokens'
    query: 'mode' | 'page'
    attributes: 'api-key' | 'name' | 'param:id' | 'tenant' | 'tier'
    entries: never
  }
}
`

describe('sluice types', () => {
  it('writes the names of a rulebook, the same for the same rules in any order', async () => {
    const [shop, messages] = [file('a-shop.yaml', SHOP), file('b-messages.yaml', MESSAGES)]
    expect(await runLine(['types', shop, messages])).toEqual({ code: 0, err: '', out: EXPECTED })
    expect(await runLine(['types', messages, shop])).toMatchObject({ out: EXPECTED })
    rmSync(shop)
    rmSync(messages)
    const [head, first, second] = SHOP.split(/(?= {2}- (?:name: plan|\{))/) as [string, string, string]
    const other = file('other.yaml', `${head}${second}${first}`)
    expect(await runLine(['types', other, file('z.yaml', MESSAGES)])).toMatchObject({ out: EXPECTED })
  })

  it('a mistake in the rules is an error, as everywhere', async () => {
    const wrong = file('wrong.yaml', 'domain: d\nlimits: [{ name: n }]\n')
    const { code, out } = await runLine(['types', wrong])
    expect({ code: code > 0, out }).toEqual({ code: true, out: '' })
  })
})
