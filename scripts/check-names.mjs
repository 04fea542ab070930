// Reads the sources of all packages, without tests and samples, and holds them to three rules:
// - a name that is exported, and every name of a type or a class, is defined in one file only;
// - no code outside core/decide asks for an algorithm by its name: it asks for its traits and options;
// - core is pure: no clock and no randomness.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'

/** Names that mean the same in each file that defines them. */
const SAME = new Map([
  ['rateLimit', 'each adapter calls its one function so'],
  ['createLimiter', 'the same function, with algorithms by name or as objects'],
  ['RateLimitMiddleware', 'what rateLimit returns, in the types of each framework'],
])

/** Files, or folders, that name an algorithm as a default or a sample: none of them asks which one a policy has. */
const NAMING = new Map([
  ['packages/limiter/src/adapters/gate/limits/from-policies.ts', 'the default of adapters: windows'],
  ['packages/limiter/src/compat/counters/hits.ts', 'the windows of express-rate-limit and others'],
  ['packages/limiter/src/compat/nestjs-throttler.ts', 'the windows of @nestjs/throttler'],
  ['packages/limiter/src/core/match/descriptors.ts', 'the default of a limit that a request brings'],
  ['packages/limiter/src/core/match/limit.ts', 'the limit that refuses whoever has no key'],
  ['packages/rulebook/src/rules/limits.ts', 'the default of limits'],
  ['packages/rulebook/src/rules/rate-limit.ts', 'the default of descriptors'],
  ['packages/observe/src/store-fails.ts', 'what is asked of the store to see that it answers'],
  ['packages/cli/src/stores.ts', 'the same, when a store is opened'],
  ['packages/client/src/testing/mock-options.ts', 'the default of a mock'],
  ['packages/cli/src/commands/mock.ts', 'the same'],
  ['packages/conformance/src/', 'the suites say what each algorithm must do'],
])

const ALGORITHMS = 'packages/limiter/src/core/decide/algorithms.ts'
const CORE_DECIDE = 'packages/limiter/src/core/decide/'

const sources = readdirSync('packages')
  .map((name) => join('packages', name, 'src'))
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((file) => join(folder, file)))
  .filter((file) => /\.ts$/.test(file) && !/\.(test|test-support|samples|vectors)\.ts$/.test(file))
  .sort()
  .map((file) => {
    const text = readFileSync(file, 'utf8')
    return { file, text, program: parseSync(file, text).program }
  })

const mistakes = [...sharedNames(), ...namedAlgorithms(), ...impurities()]
for (const mistake of mistakes) console.error(mistake)
process.exitCode = mistakes.length > 0 ? 1 : 0

function sharedNames() {
  const places = new Map()
  for (const { file, program } of sources) {
    for (const name of program.body.flatMap(namesIn))
      places.set(name, (places.get(name) ?? new Set()).add(file))
  }
  const shared = new Map([...places].filter(([, files]) => files.size > 1))
  return [
    ...[...shared]
      .filter(([name]) => !SAME.has(name))
      .map(([name, files]) => `${name} is defined in several files:\n  ${[...files].join('\n  ')}`),
    ...[...SAME.keys()]
      .filter((name) => !shared.has(name))
      .map((name) => `${name} is defined once: take it off the list`),
  ]
}

/** What a statement defines that the first rule is about. */
function namesIn(statement) {
  const node = statement.declaration ?? statement
  const named = /^(TSInterface|TSTypeAlias|Class)Declaration$/.test(node.type)
  if (node === statement && !named) return []
  return node.declarations?.map(({ id }) => id.name) ?? [node.id?.name].filter(Boolean)
}

/** Biome's rule on globals does not see members of them. */
function impurities() {
  return sources
    .filter(({ file }) => file.startsWith('packages/limiter/src/core/'))
    .flatMap(({ file, program }) => {
      const found = []
      new Visitor({
        MemberExpression({ object, property }) {
          const name = `${object.name}.${property.name}`
          if (['Math.random', 'Date.now', 'performance.now', 'crypto.randomUUID'].includes(name))
            found.push(name)
        },
        NewExpression: ({ callee }) => callee.name === 'Date' && found.push('new Date'),
      }).visit(program)
      return found.map((name) => `${file}: core is pure, but uses ${name}`)
    })
}

function namedAlgorithms() {
  const names = algorithmNames()
  const unused = new Set(NAMING.keys())
  const found = sources.flatMap(({ file, text, program }) => {
    const lines = []
    const add = (value, { start }) =>
      names.has(value) && lines.push([text.slice(0, start).split('\n').length, value])
    new Visitor({
      Literal: (node) => add(node.value, node),
      TemplateElement: (node) => add(node.value.cooked, node),
    }).visit(program)
    const allowed = [...NAMING.keys()].find((place) => file.startsWith(place))
    if (lines.length > 0) unused.delete(allowed)
    return file.startsWith(CORE_DECIDE) || allowed !== undefined
      ? []
      : lines.map(([line, name]) => `${file}:${line}: names the algorithm ${name}`)
  })
  return [...found, ...[...unused].map((place) => `${place} names no algorithm: take it off the list`)]
}

/** The keys of the interface that lists them. */
function algorithmNames() {
  const { program } = sources.find(({ file }) => file === ALGORITHMS)
  const { declaration } = program.body.find((statement) => statement.declaration?.id?.name === 'Algorithms')
  return new Set(declaration.body.body.map(({ key }) => key.value ?? key.name))
}
