// Reads all tests, and finds what makes them fail on a machine that is slow for a moment:
// - a wait that gives up too soon: `vi.waitFor` does after a second, unless it is given another timeout;
// - an upper bound on what a clock of the machine says has passed (cpu.test-support.ts counts a thread's own time);
// - a port that the system may give to somebody else before it is used.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'

const LEAST_WAIT_MS = 60_000
const ROOTS = ['packages', 'docs']

const files = ROOTS.flatMap((root) =>
  readdirSync(root, { recursive: true })
    .filter((path) => /\.(test|test-support)\.ts$/.test(path) && !/node_modules|\/(dist|build)\//.test(path))
    .map((path) => join(root, path)),
)
for (const file of files) check(file, readFileSync(file, 'utf8'))

function check(file, text) {
  const { program } = parseSync(file, text)
  const complain = (node, message) => {
    console.error(`${file}:${text.slice(0, node.start).split('\n').length}: ${message}`)
    process.exitCode = 1
  }
  const constants = new Map()
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && init !== null) constants.set(id.name, init)
    },
  }).visit(program)
  const waitOf = (node) => {
    if (node?.type === 'Identifier') return waitOf(constants.get(node.name))
    if (node?.type === 'Literal') return node.value
    const timeout = node?.properties?.find(({ key }) => key?.name === 'timeout')
    return timeout === undefined ? 0 : waitOf(timeout.value)
  }
  new Visitor({
    CallExpression(node) {
      const { callee, arguments: given } = node
      const { object, property } = callee
      if (object?.name === 'vi' && property.name === 'waitFor' && !(waitOf(given[1]) >= LEAST_WAIT_MS))
        complain(node, `a wait may take a minute on a busy machine: vi.waitFor(…, ${LEAST_WAIT_MS})`)
      if (/^toBeLess/.test(property?.name) && hasPassed(object?.arguments?.[0]))
        complain(node, 'a busy machine may take longer: bound the time of the thread, or what was done')
    },
    FunctionDeclaration(node) {
      if (node.id?.name === 'freePort' && !file.endsWith('/free-port.test-support.ts'))
        complain(node, 'free-port.test-support.ts has ports that the system gives to nobody else')
    },
  }).visit(program)
}

/** `performance.now() - …` and the like. */
function hasPassed(node) {
  if (node?.type !== 'BinaryExpression' || node.operator !== '-') return false
  const { callee } = node.left
  return callee?.property?.name === 'now' && ['performance', 'Date'].includes(callee.object?.name)
}
