import { nearest } from '@sluice/limiter/errors'
import { costOf, parsePart } from '@sluice/limiter/rules'
import { asFieldError } from '../mistake.ts'

const PARTS = ['ip', 'user', 'tenant', 'api-key', 'path', 'route', 'method', 'host']
const NAMED_KINDS = ['header', 'cookie', 'query', 'param', 'attribute']

/** A part of a key, such as `ip`, `ip/24` or `header:x-model`. @throws Mistake */
export function parseKeyPart(text: string): string {
  const [, kind = '', rest = ''] = /^([^:/|]*)(.*)$/s.exec(text) ?? []
  return asFieldError(
    () => {
      parsePart(text)
      return text
    },
    () => {
      const meant = nearest(kind, rest.startsWith(':') ? NAMED_KINDS : PARTS)
      return meant === undefined || meant === kind ? undefined : meant + rest
    },
  )
}

/** Where a cost stands in a request, such as `header:x-tokens` or `attribute:weight`. @throws Mistake */
export function parseCostSource(text: string): string {
  return asFieldError(() => {
    costOf(text)
    parsePart(text)
    return text
  })
}
