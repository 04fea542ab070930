import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './page.ts'

/** Where vitest.config.ts lets TypeScript run. */
const FOLDER = join(ROOT, 'node_modules/.cache/docs')

/** Runs a program as a module of its own. @throws what it throws */
export async function runSample(program: string, name: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  const file = join(FOLDER, name)
  writeFileSync(file, program)
  await import(/* @vite-ignore */ file)
}

export function removeSamples(): void {
  rmSync(FOLDER, { recursive: true, force: true })
}
