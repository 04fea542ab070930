import { dirname, resolve } from 'node:path'
import { isMap, isScalar, isSeq, LineCounter, type Node, type ParsedNode, parseDocument } from 'yaml'
import { hintFor } from '../arguments.ts'
import { readText } from '../input.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../usage-error.ts'
import type { ServeOptionRows } from './option-row.ts'
import type { Given } from './sources.ts'

/** Bytes of a settings file: it has one line for each setting. */
const MAX_CONFIG_BYTES = 65_536

/**
 * The settings in a YAML file, each with where it stands. A name is that of the flag; paths are found from the file's
 * folder.
 * @throws UsageError with every mistake in it, as `file:line:column: message`
 */
export async function readConfig(path: string, settings: ServeOptionRows, io: Io): Promise<Given> {
  const text = await readText(path, MAX_CONFIG_BYTES, io)
  const lines = new LineCounter()
  const mistakes: string[] = []
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${path}:${line || 1}:${col || 1}`
  }
  const refuse = (offset: number, message: string): void => void mistakes.push(`${at(offset)}: ${message}`)
  const given = new Map<string, { text: string; from: string }[]>()
  const root = contentsOf(text, lines, refuse)
  const known = Object.entries(settings).flatMap(([name, { secret }]) =>
    secret === undefined ? [name] : [name, `${name}-file`],
  )
  for (const { key, value } of isMap<ParsedNode, ParsedNode | null>(root) ? root.items : []) {
    const offset = key.range[0]
    const name = isScalar(key) ? String(key.value) : ''
    if (!known.includes(name))
      refuse(offset, `unknown setting ${JSON.stringify(name)}${hintFor(name, known)}`)
    else {
      const isList = ['list', 'paths'].includes(settings[name]?.kind ?? '')
      const texts = textsOf(value, isList)
      if (typeof texts === 'string') refuse(value?.range[0] ?? offset, `${name} ${texts}`)
      else {
        const isPath = settings[name]?.kind === 'paths' || !Object.hasOwn(settings, name)
        given.set(
          name,
          texts.map(({ value: own, offset: start }) => ({
            text: isPath ? resolve(dirname(path), own) : own,
            from: `${at(start)}: ${name}`,
          })),
        )
      }
    }
  }
  if (mistakes.length > 0) throw new UsageError(mistakes.join('\n'))
  return (name) => given.get(name)
}

function contentsOf(
  text: string,
  lines: LineCounter,
  refuse: (offset: number, message: string) => void,
): Node | null {
  try {
    const { contents, errors, warnings } = parseDocument(text, { lineCounter: lines, prettyErrors: false })
    for (const { pos, message } of [...errors, ...warnings]) refuse(pos[0], message)
    if (contents !== null && !isMap(contents)) refuse(0, 'settings are written NAME: VALUE, one a line')
    return contents
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    refuse(0, 'lists are nested too deeply') // the parser recurses
    return null
  }
}

/** The texts of a value, or what is wrong with it. */
function textsOf(
  node: ParsedNode | null | undefined,
  isList: boolean,
): { value: string; offset: number }[] | string {
  if (isSeq<ParsedNode>(node) && isList) {
    const all = node.items.map((item) => textsOf(item, false))
    return all.find((one) => typeof one === 'string') ?? (all as { value: string; offset: number }[][]).flat()
  }
  if (!isScalar(node))
    return `must be ${isList ? 'text, or a list of texts' : 'one text; quote it if it has signs'}`
  if (node.value === null) return 'has no value: write one behind the colon'
  // As it is written: 1_000 and 0x10 are no numbers of ours.
  return [{ value: typeof node.value === 'string' ? node.value : (node.source ?? ''), offset: node.range[0] }]
}
