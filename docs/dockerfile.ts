import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One line of a Dockerfile, continued lines joined. */
interface Instruction {
  readonly name: string
  readonly rest: string
}

/** The lines from one FROM to the next. */
export interface Stage {
  readonly name: string | undefined
  readonly base: string
  readonly instructions: readonly Instruction[]
}

/** @throws Error for a line that is no instruction of ours: the tests would not carry it out */
export function stagesOf(text: string): Stage[] {
  const lines = text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  const stages: { name: string | undefined; base: string; instructions: Instruction[] }[] = []
  for (const line of lines) {
    const [, name, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    if (name === undefined || rest === undefined) throw new Error(`no instruction: ${line}`)
    if (name === 'FROM') {
      const [, base, stage] = /^(\S+)(?: AS (\S+))?$/.exec(rest) ?? []
      if (base === undefined) throw new Error(`no base: ${line}`)
      stages.push({ base, name: stage, instructions: [] })
    } else stages.at(-1)!.instructions.push({ name, rest })
  }
  return stages
}

/** The last value of an instruction. */
export function lastOf(stage: Stage, name: string): string | undefined {
  return stage.instructions.findLast((instruction) => instruction.name === name)?.rest
}

/** The variables that a stage sets. */
export function environmentOf(stage: Stage): Record<string, string> {
  const pairs = stage.instructions.filter(({ name }) => name === 'ENV').map(({ rest }) => rest.split('=', 2))
  return Object.fromEntries(pairs as [string, string][])
}

/** The words of an instruction in its JSON form, such as `CMD ["serve"]`. */
export function wordsOf(rest: string | undefined): string[] {
  return JSON.parse(/\[.*\]$/.exec(rest ?? '')?.[0] ?? 'null') as string[]
}

/**
 * The files that `COPY . .` copies, by .dockerignore, from the project's root.
 * @throws Error for a pattern that is neither a path nor `**` and a name
 */
export function contextOf(root: string): string[] {
  const patterns = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const paths = new Set<string>()
  const names: RegExp[] = []
  for (const pattern of patterns) {
    const [, name] = /^\*\*\/([^/]+)$/.exec(pattern) ?? []
    if (name !== undefined) names.push(new RegExp(`^${name.replaceAll('.', '\\.').replaceAll('*', '.*')}$`))
    else if (/^[\w./-]+$/.test(pattern)) paths.add(pattern)
    else throw new Error(`a pattern that is not understood: ${pattern}`)
  }
  const visit = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name)
      if (paths.has(path) || names.some((name) => name.test(entry.name))) return []
      return entry.isDirectory() ? visit(path) : [path]
    })
  return visit('')
}
