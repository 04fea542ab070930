import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql'
import { MAX } from '../../core/decide/integers.ts'

/** Arguments that say how many of a field's objects are asked for. */
const LENGTHS = new Set(['first', 'last', 'limit'])

export interface Costed {
  readonly document: DocumentNode
  readonly operationName?: string | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
}

/**
 * A plain measure of an operation, at least 1: every field costs 1, whatever its alias, and what is selected below a
 * field with `first`, `last` or `limit` costs that many times. `{ users(first: 50) { name posts(first: 10) { title } } }`
 * costs 1 + 50 · (1 + 1 + 10 · 1) = 601. What cannot be measured (no such operation, a length that is no number) counts
 * as it is written: once. At most 2^53−1.
 * @throws TypeError where no document is given
 * @example
 * operationCost({ document: parse('{ users(first: 50) { name } }') }) // 51
 */
export function operationCost(costed: Costed): number {
  if (!Array.isArray(costed?.document?.definitions)) {
    throw new TypeError(
      'give an object with the document, as parse of graphql returns it: operationCost({ document })',
    )
  }
  const { document, operationName, variables } = costed
  const operations: OperationDefinitionNode[] = []
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === 'FragmentDefinition') fragments.set(definition.name.value, definition)
    if (definition.kind === 'OperationDefinition') operations.push(definition)
  }
  const operation = operationName
    ? operations.find(({ name }) => name?.value === operationName)
    : operations[0]
  if (operation === undefined) return 1
  const values = new Map<string, unknown>(
    operation.variableDefinitions?.map(({ variable, defaultValue }) => {
      const name = variable.name.value
      const given = variables !== null && variables !== undefined && Object.hasOwn(variables, name)
      return [
        name,
        given ? variables[name] : defaultValue?.kind === 'IntValue' ? Number(defaultValue.value) : undefined,
      ]
    }),
  )
  return Math.max(1, selectionCost(operation.selectionSet, fragments, values))
}

/** A fragment is measured once, however often it is spread, and costs nothing inside itself: that is no operation. */
function selectionCost(
  selections: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  values: ReadonlyMap<string, unknown>,
): number {
  const measured = new Map<string, number>()
  const costOfFragment = (name: string): number => {
    const known = measured.get(name)
    const fragment = fragments.get(name)
    if (known !== undefined || fragment === undefined) return known ?? 0
    measured.set(name, 0)
    const cost = costOfSet(fragment.selectionSet)
    measured.set(name, cost)
    return cost
  }
  const costOfSet = ({ selections }: SelectionSetNode): number => {
    let cost = 0
    for (const selection of selections) {
      if (selection.kind === 'FragmentSpread') cost += costOfFragment(selection.name.value)
      else if (selection.kind === 'InlineFragment') cost += costOfSet(selection.selectionSet)
      else
        cost +=
          1 + (selection.selectionSet ? listLength(selection, values) * costOfSet(selection.selectionSet) : 0)
      cost = Math.min(cost, MAX)
    }
    return cost
  }
  return costOfSet(selections)
}

function listLength({ arguments: given = [] }: FieldNode, values: ReadonlyMap<string, unknown>): number {
  const value = given.find(({ name }) => LENGTHS.has(name.value))?.value
  const length =
    value?.kind === 'IntValue'
      ? Number(value.value)
      : value?.kind === 'Variable'
        ? values.get(value.name.value)
        : undefined
  return typeof length === 'number' && Number.isSafeInteger(length) && length >= 0 ? length : 1
}
