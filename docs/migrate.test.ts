import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rateLimit as expressLimit } from '@sluice/limiter/adapters/express'
import { rateLimit as fastifyPlugin } from '@sluice/limiter/adapters/fastify'
import { rateLimit as honoLimit } from '@sluice/limiter/adapters/hono'
import { RateLimitGuard } from '@sluice/limiter/adapters/nest'
import fastify from 'fastify'
import { parseSync } from 'oxc-parser'
import { describe, expect, test } from 'vitest'
import { ROOT } from './page.ts'

/** A value of each kind that an option of theirs takes: `name as a function` where functions are told of apart. */
type Samples = Readonly<Record<string, readonly unknown[]>>

interface Rival {
  /** In docs/migrate. */
  readonly page: string
  /** Where its options are declared, and the names of their types. */
  readonly declared: string
  readonly types: readonly string[]
  readonly samples: Samples
  /** Makes a limiter of ours with these options, or throws. */
  make(options: object): unknown
}

const functions = (...values: readonly unknown[]): readonly unknown[] => values.map((value) => () => value)

const rivals: readonly Rival[] = [
  {
    page: 'express-rate-limit',
    declared: 'express-rate-limit/dist/index.d.ts',
    types: ['Options'],
    make: (options) => expressLimit(options as never),
    samples: {
      windowMs: [60_000],
      limit: [5, ...functions(5)],
      max: [5, ...functions(5)],
      message: ['Slow down', { error: 'slow down' }, ...functions('Slow down')],
      statusCode: [503],
      handler: functions(undefined),
      legacyHeaders: [true, false],
      standardHeaders: [true, false, 'draft-6', 'draft-7', 'draft-8'],
      identifier: ['api'],
      'identifier as a function': functions('api'),
      retryAfter: [60],
      'retryAfter as a function': functions(60),
      requestPropertyName: ['limits'],
      skipFailedRequests: [true, false],
      skipSuccessfulRequests: [true, false],
      requestWasSuccessful: functions(true),
      keyGenerator: functions('ada'),
      ipv6Subnet: [64, 60, 56, 52, 50, 48, 32, false, ...functions(56)],
      skip: functions(false),
      store: [{ increment() {}, decrement() {}, resetKey() {} }],
      validate: [true, false, ...validations()],
      headers: [true, false],
      passOnStoreError: [true, false],
      logger: [console],
    },
  },
  {
    page: 'fastify-rate-limit',
    declared: '@fastify/rate-limit/types/index.d.ts',
    types: ['CreateRateLimitOptions', 'RateLimitOptions', 'RateLimitPluginOptions'],
    make: (options) => fastify().register(fastifyPlugin, options as never),
    samples: {
      global: [true, false],
      max: [5, ...functions(5)],
      timeWindow: [60_000, '1 minute'],
      'timeWindow as a function': functions(60_000),
      hook: ['onRequest', 'preParsing', 'preValidation', 'preHandler'],
      groupId: ['codes'],
      keyGenerator: functions('ada', 42),
      ipv6Subnet: [64],
      allowList: [['127.0.0.1']],
      'allowList as a function': functions(true),
      skipOnError: [true, false],
      errorResponseBuilder: functions({}),
      store: [class {}],
      redis: [{}],
      nameSpace: ['api'],
      cache: [1_000],
      ban: [3],
      continueExceeding: [true],
      exponentialBackoff: [true],
      onExceeded: functions(undefined),
      onBanReach: functions(undefined),
      onExceeding: functions(undefined),
      enableDraftSpec: [true],
      addHeaders: [{ 'retry-after': false }],
      addHeadersOnExceeding: [{ 'x-ratelimit-limit': false }],
    },
  },
  {
    page: 'hono-rate-limiter',
    declared: 'hono-rate-limiter/dist/index.d.ts',
    types: ['KeyGeneratorType', 'CommonConfigType', 'CloudflareConfigType', 'HonoConfigType'],
    make: (options) => honoLimit(options as never),
    samples: {
      windowMs: [60_000],
      limit: [5, ...functions(5)],
      keyGenerator: functions('ada'),
      skip: functions(false),
      message: ['Slow down', { error: 'slow down' }, ...functions('Slow down')],
      statusCode: [503],
      handler: functions(undefined),
      standardHeaders: [true, false, 'draft-6', 'draft-7'],
      requestPropertyName: ['limits'],
      requestStorePropertyName: ['limiter'],
      skipFailedRequests: [true, false],
      skipSuccessfulRequests: [true, false],
      requestWasSuccessful: functions(true),
      store: [{ increment() {}, decrement() {}, resetKey() {} }],
      binding: [{ limit() {} }],
      'binding as a function': functions({}),
    },
  },
  {
    page: 'nestjs-throttler',
    declared: '@nestjs/throttler/dist/throttler-module-options.interface.d.ts',
    types: ['ThrottlerOptions', 'ThrottlerModuleOptions'],
    make: (options) => new RateLimitGuard(options as never),
    samples: {
      throttlers: [[{ limit: 5, ttl: 60_000 }]],
      name: ['short'],
      limit: [5, ...functions(5)],
      ttl: [60_000],
      'ttl as a function': functions(60_000),
      blockDuration: [60_000],
      'blockDuration as a function': functions(60_000),
      ignoreUserAgents: [[/bot/]],
      skipIf: functions(false),
      getTracker: functions('ada'),
      generateKey: functions('key'),
      setHeaders: [true, false],
      errorMessage: ['Slow down', ...functions('Slow down')],
      storage: [{ increment() {} }],
      ipv6SubnetPrefix: [64],
    },
  },
]

describe.each(rivals)('the page on $page', ({ page, declared, types, samples, make }) => {
  const text = readFileSync(join(ROOT, 'docs/migrate', `${page}.md`), 'utf8')
  const rows = optionRows(text)
  const theirs = optionsIn(declared, types)
  const made = async (options: object): Promise<unknown> => {
    try {
      await make(options)
      return undefined
    } catch (error) {
      return error
    }
  }

  test('has each option that the library declares, and no other', () => {
    const named = new Set([...rows.keys()].map(nameOf))
    expect([...named].sort()).toEqual([...theirs.keys()].sort())
  })

  test.each([...theirs])('is tried with a value of each kind that %s takes', (name, kinds) => {
    const tried = Object.entries(samples).flatMap(([label, values]) => (nameOf(label) === name ? values : []))
    expect(new Set(tried.map(kindOf))).toEqual(kinds)
  })

  test('has a row for each sample', () => {
    expect([...rows.keys()].sort()).toEqual(Object.keys(samples).sort())
  })

  test.each([...rows])('is right about %s: %s', async (label, here) => {
    const name = nameOf(label)
    for (const value of samples[label]!) {
      const error = await made(optionsWith(name, value))
      if (here === 'the same' || here === 'another meaning') expect(error).toBeUndefined()
      else expect(String(error)).toMatch(new RegExp(`^ConfigError: .*\\b(${name}|${SAME[name] ?? name})\\b`))
    }
    for (const other of here.matchAll(/`(\w+)/g)) {
      expect(String(await made({ [other[1]!]: {} }))).not.toMatch(/no option is named/)
    }
  })
})

test('options are read from declarations, of whatever shape', () => {
  const text = `
    type Per<T> = (request: object) => T
    type Many = Array<Own> | { readonly list: Own[] } & More<string>
    interface Own extends Base { name?: string; max: number | Per<number>; done?(): void }
    interface Base { on: () => void }`
  expect([...optionsOf(text, ['Own', 'Many', 'Base']).keys()]).toEqual(['name', 'max', 'done', 'list', 'on'])
  expect(optionsOf(text, ['Own']).get('max')).toEqual(new Set(['value', 'function']))
  expect(() => optionsOf(text, ['Options'])).toThrow('Options is not declared')
})

/** Their names for options that every limiter here has. */
const SAME: Readonly<Record<string, string>> = {
  max: 'limit',
  windowMs: 'period',
  timeWindow: 'period',
  ttl: 'period',
}

/** Gives all checks of express-rate-limit by name. */
function validations(): object[] {
  const text = readFileSync(join(ROOT, 'node_modules/express-rate-limit/dist/index.d.ts'), 'utf8')
  const names = [...optionsOf(text, ['validations']).keys()].filter(
    (name) => name !== 'enabled' && name !== 'disable',
  )
  if (names.length === 0) throw new Error('express-rate-limit declares no checks')
  return [...names, 'default'].map((name) => ({ [name]: false }))
}

/** A limiter's options with this one among them, and no other that says the same. */
function optionsWith(name: string, value: unknown): object {
  const rest = Object.entries({ limit: 5, period: '1m' }).filter(([own]) => own !== SAME[name])
  return { ...Object.fromEntries(rest), [name]: value }
}

/** What stands in the second column, by the names, or `name as a function`, in the first. */
function optionRows(text: string): Map<string, string> {
  const [, table] = /^\| there +\| here +\| difference +\|\n\|[- |]+\n((?:\|.*\n)+)/m.exec(text)!
  const rows = table!.trimEnd().split('\n')
  return new Map(
    rows.flatMap((row) => {
      const [, there, here] = row.split(/(?<!\\)\|/).map((cell) => cell.trim())
      const suffix = there!.endsWith(' as a function') ? ' as a function' : ''
      return Array.from(there!.matchAll(/`(\w+)`/g), ([, name]): [string, string] => [name! + suffix, here!])
    }),
  )
}

function nameOf(label: string): string {
  return label.replace(/ .*/, '')
}

type Kind = 'value' | 'function'

function kindOf(value: unknown): Kind {
  return typeof value === 'function' && !/^class/.test(String(value)) ? 'function' : 'value'
}

function optionsIn(file: string, types: readonly string[]): Map<string, ReadonlySet<Kind>> {
  return optionsOf(readFileSync(join(ROOT, 'node_modules', file), 'utf8'), types)
}

/** The members of these types, as a library's declarations name them, with the kinds of value that they take. */
function optionsOf(text: string, types: readonly string[]): Map<string, ReadonlySet<Kind>> {
  const declarations = new Map<string, Node>()
  walk(parseSync('types.d.ts', text).program as unknown as Node, (node) => {
    if (node.id?.name !== undefined) declarations.set(node.id.name, node)
  })
  const kinds = (type: Node): Kind[] => {
    if (type.type === 'TSFunctionType') return ['function']
    if (type.type === 'TSParenthesizedType') return kinds(type.typeAnnotation!)
    if (type.type === 'TSUnionType') return type.types!.flatMap(kinds)
    const alias = declarations.get(type.typeName?.name ?? '')
    return alias?.type === 'TSTypeAliasDeclaration' ? kinds(alias.typeAnnotation!) : ['value']
  }
  const options = new Map<string, ReadonlySet<Kind>>()
  const add = (node: Node | undefined): void => {
    for (const member of node?.members ?? node?.body?.body ?? []) {
      if (member.key?.name === undefined) continue
      const type = member.typeAnnotation?.typeAnnotation
      options.set(member.key.name, new Set(type === undefined ? ['function'] : kinds(type)))
    }
    for (const part of node?.types ?? []) add(part)
  }
  for (const name of types) {
    const found = declarations.get(name)
    if (found === undefined) throw new Error(`${name} is not declared`)
    add(found.type === 'TSInterfaceDeclaration' ? found : typeOf(found))
  }
  return options
}

/** What is read of a syntax tree's nodes. */
interface Node {
  readonly type: string
  readonly id?: { readonly name?: string; readonly typeAnnotation?: { readonly typeAnnotation: Node } }
  readonly key?: { readonly name?: string }
  readonly typeName?: { readonly name?: string }
  readonly typeAnnotation?: Node
  readonly members?: readonly Node[]
  readonly types?: readonly Node[]
  readonly body?: { readonly body?: readonly Node[] }
}

function typeOf({ typeAnnotation, id }: Node): Node | undefined {
  return typeAnnotation ?? id?.typeAnnotation?.typeAnnotation
}

function walk(node: unknown, visit: (node: Node) => void): void {
  if (typeof node !== 'object' || node === null) return
  if ('type' in node) visit(node as Node)
  for (const child of Object.values(node)) walk(child, visit)
}
