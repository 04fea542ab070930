// Writes the tables of docs/performance.md from results/*.json: `npm run perf:page`. A run of all subjects does so too.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const PAGE = new URL('../docs/performance.md', import.meta.url)
const results = (name) => new URL(`results/${name}.json`, import.meta.url)
const MARKED = /(<!-- perf ([\w-]+): .*? -->\n).*?(<!-- \/perf -->)/gs

export async function writePage() {
  const text = readFileSync(PAGE, 'utf8')
  const names = [...text.matchAll(MARKED)].map(([, , name]) => name)
  const measured = names.filter((name) => existsSync(results(name)))
  const found = new Map(measured.map((name) => [name, JSON.parse(readFileSync(results(name), 'utf8'))]))
  const written = new Map([['conditions', conditions([...found.values()])]])
  for (const [name, result] of found) {
    const { scenarios, tables = [{ head: name, columns: Object.keys(scenarios) }] } = await import(
      `./subjects/${name}.mjs`
    )
    written.set(name, tables.map((table) => tableOf(table, result.tables)).join('\n\n'))
  }
  const page = text.replace(MARKED, (all, begin, name, end) =>
    written.has(name) ? `${begin}\n${written.get(name)}\n\n${end}` : all,
  )
  writeFileSync(PAGE, page)
}

/**
 * Rows are candidates and columns scenarios, or, `turned`, the other way round.
 * @param columns scenarios, or `[title, scenario, figure, bracketed]` where it is not their first figure, or has another
 *   behind it
 */
function tableOf({ head, columns, turned = false }, measured) {
  const scenarios = columns.map((column) => (typeof column === 'string' ? [column, column] : column))
  const rows = new Map()
  for (const [title, scenario, figure, bracketed] of scenarios) {
    const { rows: candidates = [] } = measured.find((table) => table.scenario === scenario) ?? {}
    for (const { candidate, figures } of candidates) {
      const { median } = figure === undefined ? Object.values(figures)[0] : (figures[figure] ?? {})
      const [row, column] = turned ? [title, candidate] : [candidate, title]
      if (median === undefined) continue
      const more = bracketed === undefined ? '' : ` (${shown(figures[bracketed]?.median)})`
      rows.set(row, (rows.get(row) ?? new Map()).set(column, shown(median) + more))
    }
  }
  const titles = [...new Set([...rows.values()].flatMap((cells) => [...cells.keys()]))]
  const lines = [...rows].map(([row, cells]) => [row, ...titles.map((title) => cells.get(title) ?? '')])
  const widths = [head, ...titles].map((title, i) =>
    Math.max(title.length, ...lines.map((line) => line[i].length)),
  )
  const line = (cells) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [line([head, ...titles]), rule, ...lines.map(line)].join('\n')
}

function shown(figure) {
  if (figure === undefined) return ''
  return figure >= 100 ? Math.round(figure).toLocaleString('en') : String(Number(figure.toPrecision(3)))
}

function conditions(all) {
  if (all.length === 0) return ''
  const { machine, node, versions, when } = all.at(-1)
  const counts = all.map(({ rounds }) => rounds)
  const [least, most] = [Math.min(...counts), Math.max(...counts)]
  const rounds = least === most ? most : `${least} to ${most}`
  const load = Math.max(...all.map((result) => result.machine.load[0]))
  const libraries = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return [
    `- Machine: ${machine.cores} cores, ${machine.cpu}, ${Math.round(machine.memory / 2 ** 30)} GB, Linux ${machine.system}; its load was ${load.toFixed(1)} at most as a subject ended.`,
    `- ${when.slice(0, 10)}, Node ${node}, rounds: ${rounds}; ${libraries.join(', ')}.`,
  ].join('\n')
}

if (process.argv[1] === new URL(import.meta.url).pathname) await writePage()
