// Reads .d.ts files: what each declares, imports and hands on. The sources are compiled with isolatedDeclarations,
// so that every type is written out and nothing has to be inferred.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'

/** The names that a file exports: each with its declarations, or with the package that it comes from. */
export function exportsOf(file) {
  const { exported, stars } = moduleOf(file)
  return new Map([
    ...stars.flatMap((from) => [...exportsOf(fileOf(file, from))]),
    ...[...exported].map(([as, place]) => [
      as,
      { ...(place.from ? follow(file, place) : find(file, place.name)), typeOnly: place.typeOnly },
    ]),
  ])
}

/** What a name means in a file; undefined where it is a global, or a type parameter. */
export function find(file, name) {
  const { declared, imported } = moduleOf(file)
  if (declared.has(name)) return { file, name, declarations: declared.get(name) }
  return imported.has(name) ? follow(file, imported.get(name)) : undefined
}

function follow(file, { from, name }) {
  if (!from.startsWith('.')) return { from, name }
  const found = exportsOf(fileOf(file, from)).get(name)
  if (found === undefined) throw new Error(`${file}: it is not understood what ${name} of ${from} is`)
  return found
}

const fileOf = (file, from) => join(file, '..', from.replace(/\.ts$/, '.d.ts'))

/** What a file adds to the modules of others. */
export const augmentationsOf = (file) => moduleOf(file).augmentations

const modules = new Map()

function moduleOf(file) {
  if (!modules.has(file)) modules.set(file, readModule(file))
  return modules.get(file)
}

function readModule(file) {
  const text = readFileSync(file, 'utf8')
  const { program, comments, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`)
  const [declared, imported, exported, stars, augmentations] = [new Map(), new Map(), new Map(), [], []]
  for (const statement of program.body) {
    const from = statement.source?.value
    if (statement.type === 'ImportDeclaration') {
      for (const { local, imported: name } of statement.specifiers) {
        imported.set(local.name, { from, name: name?.name ?? 'default' })
      }
    } else if (statement.type === 'ExportAllDeclaration') stars.push(from)
    else if (statement.specifiers?.length >= 0 && statement.declaration === null) {
      for (const { local, exported: as, exportKind } of statement.specifiers) {
        const typeOnly = [exportKind, statement.exportKind].includes('type')
        exported.set(as.name, { from, name: local.name, typeOnly })
      }
    } else {
      const node = statement.declaration ?? statement
      const doc = comments.findLast(
        ({ end }) => end <= statement.start && !text.slice(end, statement.start).trim(),
      )
      const declaration = { node, text: withoutComments(text, node, comments), doc: doc?.value ?? '' }
      if (node.type === 'TSModuleDeclaration') augmentations.push(declaration)
      for (const { name } of node.declarations?.map(({ id }) => id) ?? [node.id]) {
        declared.set(name, [...(declared.get(name) ?? []), declaration])
        if (node !== statement) exported.set(name, { name, typeOnly: false })
      }
    }
  }
  return { declared, imported, exported, stars, augmentations }
}

function withoutComments(text, { start, end }, comments) {
  return comments
    .filter((comment) => comment.start > start && comment.end < end)
    .reduceRight(
      (rest, comment) => rest.slice(0, comment.start - start) + rest.slice(comment.end - start),
      text.slice(start, end),
    )
    .replace(/^declare |;$/g, '')
    .replace(/\n\s*(?=\n)/g, '')
}

/** The names that a declaration uses: of types, of values by `typeof`, of symbols as keys. */
export function namesUsed(node) {
  const names = new Set()
  const add = (name) => {
    if (name?.type === 'Identifier') names.add(name.name)
    else if (name !== null) add(name.left ?? name.object) // A.B
  }
  const addKey = ({ computed, key }) => computed && add(key)
  new Visitor({
    TSTypeReference: ({ typeName }) => add(typeName),
    TSTypeQuery: ({ exprName }) => add(exprName),
    TSInterfaceHeritage: ({ expression }) => add(expression),
    TSClassImplements: ({ expression }) => add(expression),
    ClassDeclaration: ({ superClass }) => add(superClass),
    TSPropertySignature: addKey,
    TSMethodSignature: addKey,
    PropertyDefinition: addKey,
    MethodDefinition: addKey,
  }).visit({ type: 'Program', body: [node] })
  return names
}
