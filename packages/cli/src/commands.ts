import type { Command } from './command.ts'
import { check } from './commands/check.ts'
import { conform } from './commands/conform.ts'
import { explain } from './commands/explain.ts'
import { exportCommand } from './commands/export.ts'
import { serve } from './commands/serve.ts'
import { simulate } from './commands/simulate.ts'

/** Every command. A new one is a file in commands/ and a line here. */
export const commands: readonly Command[] = [serve, check, explain, conform, simulate, exportCommand]
