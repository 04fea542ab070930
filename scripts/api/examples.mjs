// The public functions and classes whose docstring has no @example. What is only exported as a type needs none, nor do
// constants, unless they are a function of a framework's type.
import { exportsOf } from './declarations.mjs'

const FUNCTION_TYPES = ['FastifyPluginAsync']

export function withoutExample({ entries }) {
  const found = entries.flatMap(({ file }) => [...exportsOf(file).values()])
  const lines = found
    .filter(({ declarations = [], typeOnly }) => !typeOnly && declarations.some(({ node }) => isCalled(node)))
    .filter(({ declarations }) => !declarations.some(({ doc }) => doc.includes('@example')))
    .map(({ name, file }) => `${file.replace('/build/', '/src/').replace('.d.ts', '.ts')}: ${name}`)
  return [...new Set(lines)]
}

function isCalled(node) {
  if (node.type !== 'VariableDeclaration')
    return ['TSDeclareFunction', 'ClassDeclaration'].includes(node.type)
  const type = node.declarations[0].id.typeAnnotation?.typeAnnotation
  return type?.type === 'TSFunctionType' || FUNCTION_TYPES.includes(type?.typeName?.name)
}
