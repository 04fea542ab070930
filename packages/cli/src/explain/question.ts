import { ConfigError } from '@sluice/limiter'
import { wholeNumber } from '@sluice/limiter/algorithms'
import type { Question } from '@sluice/limiter/pipeline'
import type { DescriptorQuery, Request } from '@sluice/limiter/rules'
import { unknown } from '../arguments.ts'
import { UsageError } from '../usage-error.ts'

/** A question whose domain may be left to the rulebook. */
export type LooseQuestion = Omit<Question, 'domain'> & { readonly domain?: string }

/** Reads a question as `POST /v1/check` takes it. @throws UsageError that names the field */
export function readQuestion(json: string, name: string): LooseQuestion {
  try {
    return questionOf(JSON.parse(json))
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${name} is not JSON: ${error.message}`)
    throw error instanceof ConfigError ? new UsageError(`${name}: ${error.message}`) : error
  }
}

function questionOf(value: unknown): LooseQuestion {
  const question = fields(value, 'the question', ['domain', 'request', 'descriptors', 'cost'])
  if ((question.request === undefined) === (question.descriptors === undefined)) {
    throw new ConfigError('the question must have either request or descriptors')
  }
  return {
    ...optional('domain', question.domain, text),
    ...optional('request', question.request, requestOf),
    ...optional('descriptors', question.descriptors, (each, path) => list(each, path, descriptorOf)),
    ...optional('cost', question.cost, cost),
  }
}

function requestOf(value: unknown, path: string): Request {
  const names = ['method', 'path', 'host', 'ip', 'headers', 'query', 'attributes']
  const { headers, query, attributes, ...facts } = fields(value, path, names)
  return {
    ...Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, text(fact, `${path}.${name}`)])),
    ...optional('headers', headers, (each) =>
      map(each, `${path}.headers`, text, (name) => name.toLowerCase()),
    ),
    ...optional('query', query, (each) => map(each, `${path}.query`, text)),
    ...optional('attributes', attributes, (each) => map(each, `${path}.attributes`, textOrNumber)),
  }
}

function descriptorOf(value: unknown, path: string): DescriptorQuery {
  const { entries, cost: own, limit } = fields(value, path, ['entries', 'cost', 'limit'])
  return {
    entries: list(entries, `${path}.entries`, (each, at) => {
      const entry = fields(each, at, ['key', 'value'])
      return { key: text(entry.key, `${at}.key`), value: text(entry.value, `${at}.value`) }
    }),
    ...optional('cost', own, (each) => cost(each, `${path}.cost`)),
    ...optional('limit', limit, (each) => {
      const { requests_per_unit, unit } = fields(each, `${path}.limit`, ['requests_per_unit', 'unit'])
      return {
        requestsPerUnit: cost(requests_per_unit, `${path}.limit.requests_per_unit`),
        unit: text(unit, `${path}.limit.unit`),
      }
    }),
  }
}

type Read<T> = (value: unknown, path: string) => T

function optional<N extends string, T>(name: N, value: unknown, read: Read<T>): { readonly [K in N]?: T } {
  return value === undefined ? {} : ({ [name]: read(value, name) } as { readonly [K in N]: T })
}

function fields(value: unknown, path: string, names: readonly string[]): Record<string, unknown> {
  const object = record(value, path)
  const stray = Object.keys(object).find((name) => !names.includes(name))
  if (stray === undefined) return object
  throw new ConfigError(`${path}: ${unknown('field', stray, names)}`)
}

function map<T>(
  value: unknown,
  path: string,
  read: Read<T>,
  spell = (name: string) => name,
): Record<string, T> {
  const entries = Object.entries(record(value, path))
  return Object.fromEntries(entries.map(([name, each]) => [spell(name), read(each, `${path}.${name}`)]))
}

function record(value: unknown, path: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new ConfigError(`${path} must be an object`)
}

function list<T>(value: unknown, path: string, read: Read<T>): T[] {
  if (!Array.isArray(value)) throw new ConfigError(`${path} must be a list`)
  return value.map((each, i) => read(each, `${path}[${i}]`))
}

function text(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new ConfigError(`${path} must be text`)
  return value
}

function textOrNumber(value: unknown, path: string): string | number {
  return typeof value === 'number' ? value : text(value, path)
}

function cost(value: unknown, path: string): number {
  return wholeNumber(path, value, 0)
}
