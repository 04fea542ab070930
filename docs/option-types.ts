import { join } from 'node:path'
import { algorithmOptions, algorithms } from '@sluice/limiter/algorithms'
import { dialects } from '@sluice/limiter/respond'
import { ROOT } from './page.ts'

// biome-ignore lint/suspicious/noExplicitAny: nodes of a syntax tree, which the scripts of the API report give
type Node = any
interface Scope {
  readonly file: string
  readonly types: ReadonlyMap<string, Shape>
}

/** What a type lets a value be, as far as a check can tell. */
export type Shape =
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, Field> }
  | { readonly kind: 'map' | 'list'; readonly each: Shape }
  | { readonly kind: 'text' | 'number' | 'flag' | 'func' | 'any' }
  | { readonly kind: 'words'; readonly words: readonly unknown[] }
  | { readonly kind: 'theirs'; readonly name: string }
  | { readonly kind: 'union'; readonly any: readonly Shape[] }

interface Field {
  readonly shape: Shape
  readonly needed: boolean
}

/** A parameter of something that a package exports. */
export interface Parameter {
  readonly id: string
  readonly subpath: string
  readonly owner: string
  /** The type as it is written. */
  readonly type: string
  readonly shape: () => Shape
  /** Whether it is the only one. */
  readonly alone: boolean
  readonly isClass: boolean
  readonly isMethod: boolean
}

const KEYWORDS: Readonly<Record<string, Shape>> = {
  TSStringKeyword: { kind: 'text' },
  TSNumberKeyword: { kind: 'number' },
  TSBooleanKeyword: { kind: 'flag' },
  TSFunctionType: { kind: 'func' },
  TSUnknownKeyword: { kind: 'any' },
  TSAnyKeyword: { kind: 'any' },
  TSNeverKeyword: { kind: 'any' },
}

/** Types that are computed from values, and what users bring along. */
const KNOWN: Readonly<Record<string, Shape>> = {
  AlgorithmName: words(Object.keys(algorithms)),
  DialectName: words(Object.keys(dialects)),
  Duration: { kind: 'text' },
  KeyOf: { kind: 'any' },
  SomeKeyOf: { kind: 'any' },
  // What it checks are the types of what LimiterOptions describes.
  CheckedPolicies: { kind: 'object', fields: new Map() },
  CheckedDurations: { kind: 'object', fields: new Map() },
  KeyPartName: { kind: 'text' },
  LevelWithSilent: words(['info', 'debug', 'silent']),
  AlgorithmSettings: {
    kind: 'object',
    fields: new Map(
      [...algorithmOptions].map(([name, { option }]) => [
        name,
        { needed: false, shape: option.type === 'whole' ? { kind: 'number' } : words(option.words) },
      ]),
    ),
  },
  ...Object.fromEntries(
    [
      'Store',
      'Clock',
      'Algorithm',
      'DialectWriter',
      'Limiter',
      'LocalPipeline',
      'MockLimiter',
      'Outbound',
      'Rules',
      'Logger',
      'Timers',
      'Dialect',
      'DestinationStream',
      'Telemetry',
    ].map((name) => [name, { kind: 'theirs', name }]),
  ),
  RedisClient: { kind: 'any' },
  OutboundLimiter: { kind: 'any' },
  OutboundPipeline: { kind: 'any' },
  Position: { kind: 'any' },
  ModuleMetadata: { kind: 'any' },
  Descriptor: { kind: 'any' },
}

function words(list: readonly unknown[]): Shape {
  return { kind: 'words', words: list }
}

const entries = await import(join(ROOT, 'scripts/api/entries.mjs'))
const { exportsOf, find } = await import(join(ROOT, 'scripts/api/declarations.mjs'))

/** Every parameter of every function, constructor and method that these packages export. */
export function parametersOf(packages: readonly string[]): readonly Parameter[] {
  const found = new Map<string, Parameter>()
  for (const published of entries.publishedPackages()) {
    if (!packages.includes(published.folder)) continue
    for (const { subpath, file } of published.entries) {
      for (const [name, place] of exportsOf(file)) {
        for (const { node } of place.declarations ?? []) {
          for (const own of parameters(subpath, name, node, place.file)) {
            const key = `${own.id} ${own.type}`
            if (!found.has(key)) found.set(key, own)
          }
        }
      }
    }
  }
  return [...found.values()]
}

function parameters(subpath: string, name: string, node: Node, file: string): readonly Parameter[] {
  const called = (
    owner: string,
    params: readonly Node[],
    isMethod: boolean,
    types: ReadonlyMap<string, Shape>,
  ) =>
    params.map((parameter) => {
      const type = (parameter.typeAnnotation ?? parameter.left.typeAnnotation).typeAnnotation
      return {
        id: `${subpath} ${owner}`,
        subpath,
        owner,
        type: nameOf(type),
        shape: () => shapeOf(type, { file, types }),
        alone: params.length === 1,
        isClass: node.type === 'ClassDeclaration',
        isMethod,
      }
    })
  const types = anyFor(node.typeParameters)
  if (node.type === 'TSDeclareFunction') return called(name, node.params, false, types)
  const constant = node.declarations?.[0]?.id.typeAnnotation?.typeAnnotation
  if (nameOf(constant) === 'FastifyPluginAsync') {
    const [type] = constant.typeArguments.params
    return called(name, [{ typeAnnotation: { typeAnnotation: type } }], false, types)
  }
  return (node.body?.body ?? []).flatMap((member: Node) => {
    const params = member.value?.params ?? (member.type === 'TSMethodSignature' ? member.params : [])
    const isMade = member.kind === 'constructor'
    const isStatic = member.static ? '.' : '#'
    return called(isMade ? name : `${name}${isStatic}${member.key?.name}`, params, !isMade, types)
  })
}

function anyFor(parameters: Node): Map<string, Shape> {
  return new Map((parameters?.params ?? []).map((each: Node) => [each.name.name, { kind: 'any' }]))
}

/** The name of a type; of what is no reference, its kind. */
function nameOf(type: Node): string {
  if (type?.type === 'TSTypeOperator') return nameOf(type.typeAnnotation)
  if (type?.type === 'TSArrayType') return nameOf(type.elementType)
  if (
    type?.type === 'TSIntersectionType' &&
    ['CheckedPolicies', 'CheckedDurations'].includes(nameOf(type.types[1]))
  )
    return nameOf(type.types[0])
  if (type?.type === 'TSUnionType')
    return nameOf(type.types.find((each: Node) => each.type !== 'TSUndefinedKeyword'))
  if (['Pick', 'Readonly', 'Iterable', 'Promise'].includes(type?.typeName?.name)) {
    return type.typeName.name === 'Pick' ? 'Pick' : nameOf(type.typeArguments.params[0])
  }
  return type?.typeName?.name ?? type?.type ?? ''
}

function shapeOf(type: Node, scope: Scope): Shape {
  const inner = (node: Node): Shape => shapeOf(node, scope)
  const known = KEYWORDS[type.type]
  if (known !== undefined) return known
  switch (type.type) {
    case 'TSTypeReference':
      return referred(type, scope)
    case 'TSParenthesizedType':
    case 'TSTypeOperator':
      return inner(type.typeAnnotation)
    case 'TSArrayType':
      return { kind: 'list', each: inner(type.elementType) }
    case 'TSTupleType':
      return { kind: 'list', each: { kind: 'any' } }
    case 'TSLiteralType':
      return words([type.literal.value])
    case 'TSUnionType':
      return {
        kind: 'union',
        any: type.types
          .filter((each: Node) => !['TSUndefinedKeyword', 'TSNullKeyword'].includes(each.type))
          .map(inner),
      }
    case 'TSIntersectionType':
      return merged(type.types.map(inner))
    case 'TSMappedType':
      return { kind: 'map', each: inner(type.typeAnnotation) }
    case 'TSTypeLiteral':
      return objectOf(type.members, scope)
    case 'TSIndexedAccessType': {
      const owner = inner(type.objectType)
      const name = type.indexType.literal?.value
      return (owner.kind === 'object' && owner.fields.get(name)?.shape) || { kind: 'any' }
    }
    default:
      throw new Error(`${scope.file}: it is not understood what a ${type.type} may be`)
  }
}

function objectOf(members: readonly Node[], scope: Scope): Shape {
  const fields = new Map<string, Field>()
  for (const member of members) {
    const isMethod = member.type === 'TSMethodSignature'
    const shape: Shape = isMethod ? { kind: 'func' } : shapeOf(member.typeAnnotation.typeAnnotation, scope)
    fields.set(member.key.name ?? member.key.value, { shape, needed: member.optional !== true })
  }
  return { kind: 'object', fields }
}

function merged(shapes: readonly Shape[]): Shape {
  return {
    kind: 'object',
    fields: new Map(shapes.flatMap((shape) => (shape.kind === 'object' ? [...shape.fields] : []))),
  }
}

function referred(type: Node, scope: Scope): Shape {
  const name: string = type.typeName.name
  const own = scope.types.get(name) ?? KNOWN[name]
  if (own !== undefined) return own
  const given = (type.typeArguments ?? type.typeParameters)?.params ?? []
  const shapes = (): Shape[] => given.map((each: Node) => shapeOf(each, scope))
  switch (name) {
    case 'Readonly':
    case 'NonNullable':
    case 'PromiseLike':
      return shapes()[0]!
    case 'Record':
      return { kind: 'map', each: shapes()[1]! }
    case 'Partial':
      return changed(shapes()[0]!, (field) => ({ ...field, needed: false }))
    case 'Omit':
    case 'Pick': {
      const names = wordsOf(shapes()[1]!)
      return changed(shapes()[0]!, (field, each) =>
        names.includes(each) === (name === 'Pick') ? field : undefined,
      )
    }
  }
  const found = find(scope.file, name)
  const from = found?.from === undefined ? found : exportedBy(found)
  if (from?.declarations === undefined) return { kind: 'theirs', name }
  const [{ node }] = from.declarations
  const types = anyFor(node.typeParameters)
  ;[...types.keys()].forEach((each, i) => {
    if (given[i] !== undefined && given[i].type !== 'TSTupleType') types.set(each, shapeOf(given[i], scope))
  })
  const within = { file: from.file, types }
  if (node.type === 'TSTypeAliasDeclaration') return shapeOf(node.typeAnnotation, within)
  if (node.type !== 'TSInterfaceDeclaration') return { kind: 'theirs', name }
  if (node.body.body.some((member: Node) => member.type === 'TSCallSignatureDeclaration'))
    return { kind: 'func' }
  const above = (node.extends ?? []).map(({ expression, typeArguments }: Node) =>
    referred({ typeName: expression, typeArguments }, within),
  )
  return merged([...above, objectOf(node.body.body, within)])
}

/** A type of another package of ours. */
function exportedBy({ from, name }: { readonly from: string; readonly name: string }): Node {
  for (const published of entries.publishedPackages()) {
    const entry = published.entries.find(({ subpath }: { subpath: string }) => subpath === from)
    if (entry !== undefined) return exportsOf(entry.file).get(name)
  }
  return undefined
}

function changed(shape: Shape, change: (field: Field, name: string) => Field | undefined): Shape {
  if (shape.kind !== 'object') return shape
  const fields = [...shape.fields].flatMap(([name, field]) => {
    const own = change(field, name)
    return own === undefined ? [] : [[name, own] as const]
  })
  return { kind: 'object', fields: new Map(fields) }
}

function wordsOf(shape: Shape): readonly unknown[] {
  if (shape.kind === 'union') return shape.any.flatMap(wordsOf)
  return shape.kind === 'words' ? shape.words : []
}
