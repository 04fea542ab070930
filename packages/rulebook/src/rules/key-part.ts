import { nearest } from '@sluice/limiter/errors'
import { costOf, parsePart } from '@sluice/limiter/rules'
import { reading } from '../mistake.ts'

const PARTS = ['ip', 'user', 'tenant', 'api-key', 'path', 'route', 'method', 'host']
const NAMED = ['header', 'cookie', 'query', 'param', 'attribute']

/** A part of a key, such as `ip`, `ip/24` or `header:x-model`. @throws Mistake */
export function parseKeyPart(text: string): string {
  const [, kind = '', rest = ''] = /^([^:/|]*)(.*)$/s.exec(text) ?? []
  return reading(
    () => {
      parsePart(text)
      return text
    },
    () => {
      const meant = nearest(kind, rest.startsWith(':') ? NAMED : PARTS)
      return meant === undefined || meant === kind ? undefined : meant + rest
    },
  )
}

/** Where a cost stands in a request, such as `header:x-tokens` or `attribute:weight`. @throws Mistake */
export function parseCostSource(text: string): string {
  return reading(() => {
    costOf(text)
    parsePart(text)
    return text
  })
}
