// What a package exports, as text: every declaration once, without docstrings, and after them what they use that
// is not exported itself.
import { augmentationsOf, exportsOf, find, namesUsed } from './declarations.mjs'

export function reportOf({ name, entries }) {
  const placed = new Map() // declaration → the subpath that shows it
  const sections = entries.map(({ subpath, file }) => sectionOf(subpath, file, placed))
  const hidden = hiddenBehind(
    sections.flatMap(({ own, augmented }) => [...own, ...augmented]),
    placed,
  )
  const files = [...new Set(hidden.map(({ file }) => file))].sort()
  return [
    `# ${name}\n`,
    'What it exports, and what that uses. Written by `npm run api -- --write`.\n',
    ...sections.map(textOf),
    ...(files.length > 0 ? ['# Used above, but not exported\n'] : []),
    ...files.map((file) =>
      textOf({
        title: file.replace(/^packages\/[^/]+\/build\//, '').replace('.d.ts', ''),
        own: hidden.filter((found) => found.file === file),
      }),
    ),
  ].join('\n')
}

/** What one subpath exports: declarations of its own, and names that stand in a section before or in another package. */
function sectionOf(subpath, file, placed) {
  const own = []
  const elsewhere = []
  for (const [as, found] of exportsOf(file)) {
    const before = found.from ?? placed.get(idOf(found))
    if (before === undefined) {
      placed.set(idOf(found), subpath)
      own.push(found)
    }
    if (before !== undefined || as !== found.name) elsewhere.push({ ...found, as, from: before ?? subpath })
  }
  const augmented = augmentationsOf(file)
  return {
    title: subpath,
    own,
    elsewhere,
    augmented: augmented.length > 0 ? [{ file, declarations: augmented }] : [],
  }
}

const idOf = ({ file, name }) => `${file}#${name}`

/** What declarations use, and what that uses, where no subpath exports it. */
function hiddenBehind(shown, placed) {
  const queue = [...shown]
  for (const { file, declarations } of queue) {
    for (const name of declarations.flatMap(({ node }) => [...namesUsed(node)])) {
      const found = find(file, name)
      if (found?.file === undefined || placed.has(idOf(found))) continue
      placed.set(idOf(found), found.file)
      queue.push(found)
    }
  }
  return queue.slice(shown.length)
}

function textOf({ title, own, elsewhere = [], augmented = [] }) {
  const byName = own.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const parts = [
    [...linesOf('import', importsOf([...own, ...augmented])), ...linesOf('export', elsewhere)].join('\n'),
    ...byName.flatMap(({ name, declarations, typeOnly }) =>
      declarations.map(({ text }) =>
        typeOnly && isValue(text) ? `// ${name}: only as a type\n${text}` : text,
      ),
    ),
    ...augmented.flatMap(({ declarations }) => declarations.map(({ text }) => text)),
  ]
  return `## ${title}\n\n\`\`\`ts\n${parts.filter((part) => part !== '').join('\n\n')}\n\`\`\`\n`
}

const isValue = (text) => /^(abstract class|class|const|function) /.test(text)

/** The names of other packages that declarations use, so that it shows which `Request` is meant. */
function importsOf(own) {
  return own.flatMap(({ file, declarations }) =>
    declarations
      .flatMap(({ node }) => [...namesUsed(node)])
      .map((as) => ({ ...find(file, as), as }))
      .filter(({ from }) => from !== undefined),
  )
}

/** One line for each module that names come from. */
function linesOf(word, names) {
  const modules = [...new Set(names.map(({ from }) => from))].sort()
  return modules.map((module) => {
    const list = names
      .filter(({ from }) => from === module)
      .map(({ name, as, typeOnly }) => `${typeOnly ? 'type ' : ''}${name}${name === as ? '' : ` as ${as}`}`)
    return `${word} { ${[...new Set(list)].sort().join(', ')} } from '${module}'`
  })
}
