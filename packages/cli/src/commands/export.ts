import { randomUUID } from 'node:crypto'
import { rename, rm, stat, writeFile } from 'node:fs/promises'
import { type ExportNote, type ExportTargetName, exportRules, exportTargets } from '@sluice/rulebook'
import { unknownName } from '../arguments.ts'
import { type Command, defineCommand } from '../command.ts'
import type { Io } from '../io.ts'
import { printable } from '../printable.ts'
import { chooseDomain, loadRules, RULES_OPTIONS } from '../rules.ts'
import { UsageError } from '../usage-error.ts'

/** Writes the configuration of a proxy or firewall. */
export const exportCommand: Command = defineCommand({
  name: 'export',
  summary: 'writes rules as the configuration of a proxy or a firewall',
  operands: `${exportTargets.join('|')} RULES…`,
  options: {
    output: {
      type: 'string',
      short: 'o',
      value: 'FILE',
      help: 'where to write; replaced as a whole; default: standard output',
    },
    strict: { type: 'boolean', help: 'exit 1, and write nothing, when a rule cannot be exported' },
    format: { type: 'string', value: 'FORMAT', help: 'for nftables: nft (default) or iptables' },
    keys: { type: 'string', value: 'N', help: 'clients that each table holds; default 100000' },
    domain: { type: 'string', value: 'NAME', help: "which of the rulebook's domains, where it has several" },
    ...RULES_OPTIONS,
  },
  notes: `Rules that the target cannot have, and those that mean something else there, are listed on standard
error with the reason, and in the file as comments. The same rules give the same file, byte for byte.`,
  async run([target = '', ...paths], values, io) {
    if (target === '') throw new UsageError(`name the target, ${exportTargets.join(', ')}, and the rules`)
    if (!isTarget(target)) throw new UsageError(unknownName('target', target, exportTargets))
    const { domains } = await loadRules(paths, values, io)
    const domain = chooseDomain(domains, values.domain, '--domain')
    const { text, notes } = exportRules(target, domain, {
      ...(values.format !== undefined && { format: values.format }),
      ...(values.keys !== undefined && { keys: keysFrom(values.keys) }),
    })
    for (const note of notes) io.stderr.write(`${lineOf(note)}\n`)
    if (values.strict && notes.some(({ exported }) => !exported)) return 1
    if (values.output === undefined) io.stdout.write(text)
    else await replaceFile(values.output, text, io)
    return 0
  },
})

function isTarget(name: string): name is ExportTargetName {
  return (exportTargets as readonly string[]).includes(name)
}

/** `shop.yaml:12:5: "login" is not exported: …` */
function lineOf({ rule, exported, message, source }: ExportNote): string {
  const place = source === undefined ? '' : `${source.file}:${source.line}:${source.column}: `
  return printable(
    `${place}${JSON.stringify(rule)} ${exported ? 'differs' : 'is not exported'}: ${message}`,
    1_000,
  )
}

function keysFrom(text: string): number {
  const keys = Number(text)
  if (/^\d+$/.test(text) && keys >= 1 && keys <= 10_000_000) return keys
  throw new UsageError(`--keys must be a whole number from 1 to 10000000, not ${JSON.stringify(text)}`)
}

/** A program that reads the file meanwhile reads the old one or the new one. What is no file is written to as it is. */
async function replaceFile(path: string, text: string, io: Io): Promise<void> {
  const before = await stat(path).catch(() => undefined)
  if (before !== undefined && !before.isFile()) {
    if (before.isDirectory()) throw new UsageError(`cannot write ${path}: it is a folder`)
    return writeFile(path, text)
  }
  const fresh = `${path}.${randomUUID()}`
  try {
    await writeFile(fresh, text, { flag: 'wx', ...(before !== undefined && { mode: before.mode }) })
    await rename(fresh, path)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
  io.stderr.write(`written to ${path}\n`)
}
