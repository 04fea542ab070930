import type { When } from '@sluice/limiter/rules'
import { unknownName } from '../arguments.ts'
import { UsageError } from '../usage-error.ts'

const FACTS = ['method', 'path', 'host', 'ip'] as const

/**
 * The conditions of a rule from texts such as `path=/login` and `header:x-app=web`; values between commas are
 * alternatives.
 * @throws UsageError
 */
export function whenFrom(texts: readonly string[] = []): When | undefined {
  if (texts.length === 0) return undefined
  const when: { -readonly [Fact in keyof When]: When[Fact] } = {}
  for (const text of texts) {
    const [, name = '', value = ''] = /^([^=]+)=(.+)$/.exec(text) ?? []
    const [, kind, inner = ''] = /^(header|query):(.+)$/.exec(name) ?? []
    const fact = FACTS.find((each) => each === name)
    if (kind === 'header') when.header = { ...when.header, [inner]: value.split(',') }
    else if (kind === 'query') when.query = { ...when.query, [inner]: value.split(',') }
    else if (fact !== undefined) when[fact] = value.split(',')
    else
      throw new UsageError(
        `--when: ${unknownName('fact', name || text, [...FACTS, 'header:NAME', 'query:NAME'])}`,
      )
  }
  return when
}
