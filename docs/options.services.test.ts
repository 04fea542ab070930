import { inspect } from 'node:util'
import { createOutbound } from '@sluice/client'
import { createLimiter, MemoryStore } from '@sluice/limiter'
import { algorithmOptions, algorithms, planOf } from '@sluice/limiter/algorithms'
import { nearest } from '@sluice/limiter/errors'
import { dialects } from '@sluice/limiter/respond'
import { compile } from '@sluice/limiter/rules'
import { FakeClock } from '@sluice/limiter/testing'
import { openTelemetry } from '@sluice/service/opentelemetry'
import { describe, expect, it } from 'vitest'
import { type Parameter, parametersOf, type Shape } from './option-types.ts'

/** What is no options object: values of the library's own, or what is written by whoever calls or is called. */
const DATA: Readonly<Record<string, string>> = {
  ...because('a body of the service, with errors of the reader of bodies', [
    'ServiceQuestion',
    'ReservedCosts',
    'ProblemBody',
  ]),
  ...because('an answer or a call of others', ['Answer', 'FetchFunction']),
  ...because('made by the library, and handed back', [
    ...[
      'AnswerBody',
      'CidrTrie',
      'Address',
      'Cidr',
      'CompiledDomain',
      'CompiledLimit',
      'Decision',
      'Facts',
      'FileProblem',
      'Matched',
      'Outcome',
    ],
    ...[
      'Params',
      'Part',
      'Plan',
      'ReadPolicy',
      'Reading',
      'Receipt',
      'Reply',
      'Report',
      'Role',
      'Rules',
      'StateRef',
    ],
    ...[
      'ThrottledOptions',
      'MockCall',
      'StatePlan',
      'StepVerdict',
      'Once',
      'Charge',
      'Decisive',
      'Step',
      'StateName',
      'Pick',
      'UnknownField',
    ],
    ...[
      'LimitOptions',
      'RulebookFiles',
      'RateLimitInfo',
      'Timers',
      'States',
      'Slot',
      'S',
      'P',
      'Cells',
      'FieldPath',
      'TSTupleType',
      'T',
      'Verdict',
    ],
    ...[
      'LiveHistory',
      'LivePolicy',
      'LiveSecond',
      'LiveSummary',
      'LiveWindow',
      'OffenderList',
      'Rule',
      'AskedRequest',
      'EventType',
    ],
  ]),
  ...because('of the platform or another library', [
    ...[
      'AbortSignal',
      'Callback',
      'Error',
      'Uint8Array',
      'FakeClock',
      'Costed',
      'ErrorOptions',
      'ExecutionContext',
      'IncomingRequest',
      'Response',
      'App',
      'Log',
      'Metadata',
      'Registry',
    ],
    ...['TSObjectKeyword'],
  ]),
  ...because('described by the user, and checked where it is used', [
    ...[
      'ActualCost',
      'CostByName',
      'KeyOf',
      'SomeKeyOf',
      'Keys',
      'OptionCheck',
      'CallFields',
      'Dialect',
      'Dialects',
      'OptionFields',
      'HeaderLookup',
      'SomeKeyOf',
      'Keys',
      'Key',
      'ObjectHints',
    ],
    ...['AroundCall', 'Observer', 'OwnFields', 'Store', 'TSIntersectionType', 'TSFunctionType'],
  ]),
  ...because('of what queues are made of: those check their own options', [
    'Judge',
    'WritableFigures',
    'KnownWait',
    'TurnQueueOptions',
    'TurnRefusal',
    'Waiter',
  ]),
  ...because('of every message: the service checks it once', ['WireBounds']),
  ...because('no object', [
    ...[
      'TSParenthesizedType',
      'TSStringKeyword',
      'TSNumberKeyword',
      'TSNeverKeyword',
      'TSBooleanKeyword',
      'TSUnknownKeyword',
      'TSAnyKeyword',
      'TSNeverKeyword',
    ],
  ]),
}

function because(reason: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, reason]))
}

const store = new MemoryStore({ clock: new FakeClock() })
const limiter = createLimiter({ policies: { p: { algorithm: 'gcra', limit: 9, period: '1m' } } })
const SHOP = { name: 'shop', limits: [], descriptors: [] }
const rules = compile([SHOP])
const limited = compile([
  {
    name: 'shop',
    limits: [
      {
        name: 'all',
        key: [],
        limit: { limit: 9, period: '1m' },
        algorithm: 'gcra',
        cost: 1,
        onLimit: 'deny',
        mode: 'enforce',
        onStoreError: 'open',
        onMissingKey: 'skip',
        exempt: [],
        overrides: [],
        replaces: [],
      },
    ],
    descriptors: [],
  },
])
const plan = planOf({ algorithm: 'gcra', limit: 9, period: '1m' })

/** What users bring along. */
const THEIRS: Readonly<Record<string, unknown>> = {
  Store: store,
  Clock: new FakeClock(),
  // One that takes the options of all.
  Algorithm: {
    ...algorithms.gcra,
    options: Object.fromEntries([...algorithmOptions].map(([name, { option }]) => [name, option])),
  },
  DialectWriter: dialects.ietf(),
  Limiter: limiter,
  Rules: rules,
  Logger: console,
  Timers: globalThis,
  Outbound: createOutbound(),
  DestinationStream: process.stdout,
  Telemetry: openTelemetry(),
  RateLimitInfo: {},
}

// biome-ignore lint/suspicious/noExplicitAny: options that are wrong on purpose
type Options = any
type Made = Readonly<Record<string, Options>>

/** Where the sample text stands for a URL. */
const withUrl = (options: Options): Options =>
  options?.url === 'shop' ? { ...options, url: 'https://api.example.com' } : options

/** How what takes more than options is called. */
const CALLS: Readonly<Record<string, (made: Made, options: Options) => unknown>> = {
  ruleErrors: ({ ruleErrors }, options) => {
    const [error] = ruleErrors(plan, options)
    if (error !== undefined) throw error
  },
  optionErrors: ({ optionErrors }, options) => {
    const [error] = optionErrors(options)
    if (error !== undefined) throw error
  },
  ruleOf: ({ ruleOf }, options) => ruleOf('p', 'p', plan, options),
  'Offenders#list': ({ createOffenders }, options) => createOffenders().list(options),
  stepFor: ({ stepFor }, options) => stepFor(plan, options),
  reportOf: ({ reportOf }, options) => reportOf(limiter.peek('k'), options),
  respondTo: ({ respondTo }, options) => respondTo(limiter.peek('k'), options),
  compile: ({ compile }, options) => (Array.isArray(options) ? compile(options) : compile([], options)),
  compileInPieces: ({ compileInPieces }, options) =>
    Array.isArray(options)
      ? compileInPieces(options, () => undefined)
      : compileInPieces([], () => undefined, options),
  readRulebook: ({ readRulebook }, options) => readRulebook([], options),
  loadText: ({ loadText }, options) => loadText('domain: shop', 'shop.yaml', options),
  exportRules: ({ exportRules }, given) => {
    if (typeof given === 'string') return exportRules(given, SHOP)
    const isDomain = ['name', 'limits', 'descriptors'].some((name) => Object.hasOwn(given ?? {}, name))
    return isDomain ? exportRules('nginx', given) : exportRules('nginx', SHOP, given)
  },
  startPause: ({ startPause }, options) => startPause(1, undefined, options),
  startTimer: ({ startTimer }, options) => startTimer(() => undefined, 1, options),
  parseRulebook: ({ parseRulebook }, options) => parseRulebook({ files: [], problems: [] }, options),
  Breaker: ({ Breaker }, options) => new Breaker(options, () => 0),
  createQueue: ({ createQueue }, options) => createQueue(limiter, options),
  DenyCache: ({ DenyCache }, options) => new DenyCache(store, options),
  FallbackStore: ({ FallbackStore }, options) => new FallbackStore(store, options),
  PrefetchStore: ({ PrefetchStore }, options) => new PrefetchStore(store, options),
  loadRulebook: ({ loadRulebook }, options) => loadRulebook([], options),
  adviseRulebook: ({ adviseRulebook }, options) => adviseRulebook([], options),
  matchRequest: ({ matchRequest }, request) => matchRequest(rules, 'shop', request),
  matchLimit: ({ matchLimit }, request) =>
    matchLimit(limited, limited.domains.get('shop')!.limits[0]!, request),
  explainRequest: ({ explainRequest }, request) => explainRequest(rules, 'shop', request),
  matchDescriptors: ({ matchDescriptors }, list) => matchDescriptors(rules, 'shop', list),
  explainDescriptors: ({ explainDescriptors }, list) => explainDescriptors(rules, 'shop', list),
  readAnswerLimits: ({ readAnswerLimits }, options) =>
    readAnswerLimits({ status: 200, headers: new Headers() }, options),
  retrying: ({ retrying }, options) => retrying(fetch, options),
  outbound: ({ outbound }, options) => outbound(fetch, options),
  outboundAdapter: ({ outboundAdapter }, options) => outboundAdapter(fetch, options),
  'Outbound#run': ({ createOutbound }, options) => createOutbound().run(() => undefined, withUrl(options)),
  'Outbound#progress': ({ createOutbound }, options) => createOutbound().progress(1, withUrl(options)),
  'MockServer#setFaults': async ({ startMock }, faults) => {
    const mock = await startMock()
    try {
      mock.setFaults(faults)
    } finally {
      await mock.close()
    }
  },
  createService: ({ createService }, options) => {
    const webhook = options?.offendersWebhook
    const url = 'http://127.0.0.1:1'
    return createService(
      webhook?.url === 'shop' ? { ...options, offendersWebhook: { ...webhook, url } } : options,
    )
  },
  createServiceClient: ({ createServiceClient }, options) =>
    createServiceClient(options?.url === 'shop' ? { ...options, url: 'http://127.0.0.1:1' } : options),
  ...Object.fromEntries(
    (['check', 'peek', 'batch', 'reserve'] as const).map((verb) => [
      `ServiceClient#${verb}`,
      ({ createServiceClient }: Made, options: Options) => {
        const client = createServiceClient({ url: 'http://127.0.0.1:1', domain: 'd' })
        return client[verb](verb === 'batch' ? [{ request: {} }] : { request: {} }, options)
      },
    ]),
  ),
  'Queue#wait': ({ createQueue }, options) => createQueue(limiter).wait('k', options),
  'Queue#schedule': ({ createQueue }, options) =>
    createQueue(limiter).schedule('k', () => undefined, options),
  'Queue#wrap': ({ createQueue }, options) => createQueue(limiter).wrap(() => undefined, options),
  'RateLimitModule.forRoot': ({ RateLimitModule }, options) => RateLimitModule.forRoot(options),
  'RateLimitModule.forRootAsync': ({ RateLimitModule }, options) => RateLimitModule.forRootAsync(options),
  ...Object.fromEntries(
    ['check', 'allow', 'limitOrThrow', 'peek', 'reserve', 'match'].map((verb) => [
      `Limiter#${verb}`,
      (_: Made, options: Options) => (limiter as Options)[verb]('k', options),
    ]),
  ),
  ...Object.fromEntries(
    ['match', 'check', 'peek', 'reserve', 'reset', 'block', 'unblock'].map((verb) => [
      `Pipeline#${verb}`,
      ({ createPipeline }: Made, question: Options) =>
        createPipeline({ rules: () => rules, store })[verb](question, '1m'),
    ]),
  ),
  'fastify rateLimit': ({ rateLimit }, options) => rateLimit({}, options),
}

/** Given with each call: a TypeError. */
const PER_CALL = [
  'OffendersQuery',
  'TimerOptions',
  'WaitOptions',
  'RunOptions',
  'WrapOptions',
  'CostOption',
  'ReserveOptions',
  'ReadAnswerOptions',
  'AskOptions',
  'ReserveAskOptions',
  'Question',
  'Request',
  'DescriptorQuery',
]

/** Fields whose values are not looked at, or in another way than by their types, with the reason. */
const UNCHECKED: Readonly<Record<string, string>> = {
  client: 'recognised by its shape, with an error of its own',
  message: 'anything that JSON can say',
  errorMessage: 'the same',
  metadata: 'the user’s own',
  source: 'written by the loader',
  imports: 'Nest’s own',
  inject: 'Nest’s own',
  domain: 'of a question: an unknown domain has an error of its own',
  dialects: 'of a call: what has no `read` fails where it is read',
  cost: 'of a call: a cost that is none has an error of its own',
  ttl: 'of a call: a duration that is none has an error of its own',
}

const options = parametersOf(['limiter', 'rulebook', 'service', 'client']).filter(
  ({ type, subpath }) => !Object.hasOwn(DATA, type) && !subpath.endsWith('/options'),
)

const titled = options.map((parameter) => [`${parameter.id} takes ${parameter.type}`, parameter] as const)

describe.each(titled)('OF-20, OF-22, OF-25: %s, which', (_, parameter) => {
  const perCall = PER_CALL.includes(parameter.type)
  const cases = [...mistakesOf(parameter)]

  it(`has ${cases.length} mistakes refused, each with its path and the nearest right name`, async () => {
    const made = await import(parameter.subpath)
    const missed: string[] = []
    for (const { given, path, right } of cases) {
      const error = await thrownBy(() => call(parameter, made, given))
      const isOurs = perCall ? error instanceof TypeError : error?.name === 'ConfigError'
      const says = error !== undefined && (error.message.includes(path) || path === '')
      const hints = right === undefined || right.some((name) => error?.message.includes(name ?? '') === true)
      if (!isOurs || !says || !hints)
        missed.push(`${path || 'options'} of ${shown(given)}: ${error ?? 'accepted'}`)
    }
    expect(missed).toEqual([])
    expect(cases.length).toBeGreaterThan(0)
  })
})

it('finds the options of every package', () => {
  expect(options.length).toBeGreaterThan(30)
})

function call(
  { owner, subpath, alone, isClass, isMethod, type }: Parameter,
  made: Made,
  given: Options,
): unknown {
  const own = subpath.endsWith('/fastify') ? CALLS[`fastify ${owner}`] : CALLS[owner]
  if (own !== undefined) return own(made, given)
  if (isMethod || (!alone && owner !== 'createGate'))
    throw new Error(`say in CALLS how ${owner} is given ${type}`)
  return isClass ? new made[owner](given) : made[owner](given)
}

async function thrownBy(run: () => unknown): Promise<Error | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    return error as Error
  }
}

interface Mistake {
  readonly given: Options
  /** Where it is, as messages write it. */
  readonly path: string
  /** The names that may be meant: several can be as near. */
  readonly right?: readonly (string | undefined)[]
}

function* mistakesOf({ shape, type }: Parameter): Generator<Mistake> {
  const list = ['Domain', 'DescriptorQuery'].includes(type)
  const whole = shape()
  for (const mistake of mistakesIn(whole, '', type)) {
    // What is a list of rules names the rule, and then the path within it.
    yield list
      ? { ...mistake, path: mistake.path.replace(/^(\[0\]\.?)?((limits|descriptors|network)\[0\]\.?)?/, '') }
      : mistake
  }
}

/** Every mistake of one letter, of one type, of one word and of nothing, at every depth. */
function* mistakesIn(shape: Shape, path: string, type: string): Generator<Mistake> {
  yield { given: null, path }
  const wrong = wrongFor(shape)
  if (wrong !== undefined) yield { given: wrong, path }
  if (shape.kind === 'union') {
    for (const each of shape.any) {
      if (['object', 'map', 'list'].includes(each.kind)) yield* inner(each, path, type)
      if (each.kind === 'words') yield* offTheList(each.words, path)
    }
  } else yield* shape.kind === 'words' ? offTheList(shape.words, path) : inner(shape, path, type)
}

function* inner(shape: Shape, path: string, type: string): Generator<Mistake> {
  // Headers and attributes are many, and are read where a rule asks for them: their values are not looked at before.
  if (shape.kind === 'map' && PER_CALL.includes(type)) return
  if (shape.kind === 'map') {
    for (const own of mistakesIn(shape.each, path === '' ? 'p' : `${path}.p`, type))
      yield { ...own, given: { p: own.given } }
  }
  if (shape.kind === 'list') {
    for (const own of mistakesIn(shape.each, `${path}[0]`, type)) yield { ...own, given: [own.given] }
  }
  if (shape.kind !== 'object') return
  const sample = sampleOf(shape) as object
  const known = [...shape.fields.keys()]
  for (const [name, field] of shape.fields) {
    const at = path === '' ? name : `${path}.${name}`
    const typo = name.slice(0, 1) + name.slice(2)
    if (name.length > 2 && !known.includes(typo)) {
      const given = { ...sample, [typo]: sampleOf(field.shape) }
      yield {
        given,
        path: at.slice(0, at.length - name.length) + typo,
        right: [nearest(typo, known), nearest(typo, known.toReversed())],
      }
    }
    if (field.needed && !isUnchecked(name, type)) yield { given: { ...sample, [name]: undefined }, path: at }
    if (field.shape.kind === 'any' || isUnchecked(name, type)) continue
    for (const own of mistakesIn(field.shape, at, type))
      yield { ...own, given: { ...sample, [name]: own.given } }
  }
}

function isUnchecked(name: string, type: string): boolean {
  const forCalls = ['domain', 'cost', 'ttl'].includes(name)
  return Object.hasOwn(UNCHECKED, name) && (!forCalls || PER_CALL.includes(type))
}

function* offTheList(list: readonly unknown[], path: string): Generator<Mistake> {
  for (const word of list) {
    if (typeof word !== 'string' || word.length < 4) continue
    yield {
      given: `${word.slice(0, -1)}~`,
      path,
      right: [nearest(`${word.slice(0, -1)}~`, list as string[])],
    }
  }
}

const WRONG: Readonly<Record<string, Options>> = {
  text: 7,
  number: '7',
  flag: 'false',
  func: 'ip',
  words: 7.5,
}

function wrongFor(shape: Shape): Options {
  if (shape.kind === 'any') return undefined
  if (shape.kind !== 'union') return WRONG[shape.kind] ?? 7
  const kinds = shape.any.map(({ kind }) => kind)
  if (kinds.includes('any')) return undefined
  return kinds.includes('flag') || kinds.includes('words') ? 7.5 : true
}

/** A value of a shape, without anything that may be left out. */
function sampleOf(shape: Shape): unknown {
  switch (shape.kind) {
    case 'object':
      return Object.fromEntries(
        [...shape.fields].flatMap(([name, field]) => (field.needed ? [[name, sampleOf(field.shape)]] : [])),
      )
    case 'list':
      return []
    case 'map':
      return {}
    case 'text':
      return 'shop'
    case 'number':
      return 1
    case 'flag':
      return true
    case 'func':
      return () => undefined
    case 'words':
      return shape.words[0]
    case 'theirs':
      return THEIRS[shape.name] ?? {}
    case 'union':
      return sampleOf(shape.any[0]!)
    default:
      return undefined
  }
}

function shown(value: unknown): string {
  return inspect(value, { depth: 5, breakLength: Number.POSITIVE_INFINITY }).slice(0, 120)
}
