import type { Command } from './command.ts'

/** Every command, by name. A new one is a file in commands/ and a line here; only the one that runs is loaded. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.ts')).serve,
  check: async () => (await import('./commands/check.ts')).check,
  advise: async () => (await import('./commands/advise.ts')).advise,
  explain: async () => (await import('./commands/explain.ts')).explain,
  conform: async () => (await import('./commands/conform.ts')).conform,
  simulate: async () => (await import('./commands/simulate.ts')).simulate,
  compare: async () => (await import('./commands/compare.ts')).compare,
  usage: async () => (await import('./commands/usage.ts')).usage,
  load: async () => (await import('./commands/load.ts')).load,
  drill: async () => (await import('./commands/drill.ts')).drill,
  suggest: async () => (await import('./commands/suggest.ts')).suggest,
  ban: async () => (await import('./commands/ban.ts')).ban,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  types: async () => (await import('./commands/types.ts')).types,
  gateway: async () => (await import('./commands/gateway.ts')).gateway,
  mock: async () => (await import('./commands/mock.ts')).mock,
  top: async () => (await import('./commands/top.ts')).top,
}
