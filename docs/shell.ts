import { spawn } from 'node:child_process'
import { type Block, isExcerpt, type Page, REDIS, ROOT } from './page.ts'

/** A shell sample, and the output that the page shows right behind it. */
export interface Dialogue {
  readonly command: Block
  readonly output: Block
}

/** What can be run and compared, in page order. */
export function dialoguesOf({ blocks }: Page): Dialogue[] {
  return blocks.flatMap((command, i) => {
    const output = blocks[i + 1]
    if (command.language !== 'sh' || output === undefined || isExcerpt(output)) return []
    return ['json', 'text'].includes(output.language) ? [{ command, output }] : []
  })
}

/** What each command prints, in one session of bash at the project's root. */
export async function outputsOf(dialogues: readonly Dialogue[], addresses: Addresses): Promise<string[]> {
  const script = dialogues.map(({ command }) => `{\n${here(command.text, addresses)}} 2>&1\nprintf '\\036'\n`)
  const shell = spawn('bash', { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'] })
  shell.stdin.end(script.join(''))
  let printed = ''
  for await (const chunk of shell.stdout.setEncoding('utf8')) printed += chunk
  return printed.split('\x1e').slice(0, -1)
}

export interface Addresses {
  readonly http: string
  readonly admin: string
  /** The port of a Redis, for samples that name one. */
  readonly redis?: number | undefined
}

function here(command: string, { http, admin, redis }: Addresses): string {
  return command
    .replaceAll('npx sluice', 'node packages/cli/bin/sluice.js')
    .replaceAll('http://127.0.0.1:8080', http)
    .replaceAll('http://127.0.0.1:6070', admin)
    .replaceAll(REDIS, `redis://127.0.0.1:${redis}`)
}
