/**
 * A sample as a module whose comments are assertions: `remaining // → 3`, `console.log(a, b) // → 1, 2`,
 * `const wait = retry() // → 500`, `check(-1) // → throws TypeError: … must be whole`, where `…` is any text.
 * Lines stay where they are.
 */
export function programOf(sample: string, place: string): string {
  const [first = '', ...rest] = sample.split('\n').map((line) => asserted(line, place))
  return [`import { expect } from 'vitest'; ${first}`, ...rest].join('\n')
}

function asserted(line: string, place: string): string {
  const [, code, value] = /^(.*\S)\s*\/\/ → (.+)$/.exec(line) ?? []
  if (code === undefined || value === undefined) return line
  const where = JSON.stringify(`${place} ${line.trim()}`)
  const [, error] = /^throws (.+)$/.exec(value) ?? []
  if (error !== undefined) {
    const caught = `await (async () => { ${code} })().catch((error) => \`\${error.name}: \${error.message}\`)`
    return `expect(${caught}, ${where}).toMatch(${patternOf(error)})`
  }
  const [, name] = /^\s*const (\w+) = /.exec(code) ?? []
  if (name !== undefined) return `${code}; expect(${name}, ${where}).toEqual(${value})`
  const [, shown = code.trim()] = /^\s*console\.log\((.*)\)$/.exec(code) ?? []
  return `expect([${shown}], ${where}).toEqual([${value}])`
}

function patternOf(message: string): string {
  const parts = message.split('…').map((part) => part.trim().replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
  return `/^${parts.join('.*')}/s`
}
