import { type Command, defineCommand } from '../command.ts'
import { loadRules, RULES_OPTIONS } from '../rules.ts'
import { limitsDeclaration } from '../typed/limits-declaration.ts'
import { namesRead } from '../typed/names-read.ts'

/** Writes the names of a rulebook as TypeScript types. */
export const types: Command = defineCommand({
  name: 'types',
  summary: 'writes the names of a rulebook as TypeScript types, for the client',
  operands: 'RULES…',
  options: { ...RULES_OPTIONS },
  notes: `Prints a declaration of the type Limits: createServiceClient<Limits> of @sluice/client/service does not
compile with a misspelt domain, limit, header, attribute or key of a descriptor.
  sluice types rules/ > limits.d.ts
The same rules give the same text, byte for byte, in whichever files and order they stand.`,
  async run(paths, values, io) {
    const { domains, rules } = await loadRules(paths, values, io)
    const names = domains.map(
      (domain) => [domain.name, namesRead(domain, rules.domains.get(domain.name)!)] as const,
    )
    io.stdout.write(limitsDeclaration(new Map(names)))
    return 0
  },
})
