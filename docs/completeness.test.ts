import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { algorithms } from '@sluice/limiter/algorithms'
import { dialects } from '@sluice/limiter/respond'
import { rulebookSchema } from '@sluice/rulebook'
import { describe, expect, test } from 'vitest'
import { pages, ROOT } from './page.ts'

const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

describe('the pages tell of', () => {
  test.each(Object.keys(algorithms))('the algorithm %s', (name) => {
    expect(textOf('docs/algorithms/README.md')).toContain(`(${name}.md)`)
  })

  test.each(Object.keys(dialects))('the dialect %s', (name) => {
    expect(textOf('docs/headers.md')).toMatch(new RegExp(`^\\| \`${name}\``, 'm'))
  })

  test.each(commands())('the command %s', (name) => {
    expect(textOf('docs/cli.md')).toContain(`\n## ${name}\n`)
  })

  test.each(rulebookFields())('the rulebook field %s', (name) => {
    expect(textOf('docs/rulebook.md')).toMatch(new RegExp(`\`[^\`\\n]*\\b${name}\\b[^\`\\n]*\``))
  })

  test.each(libraries())('the library %s', (name) => {
    expect(textOf('ARCHITECTURE.md')).toContain(`npmjs.com/package/${name})`)
  })

  test.each(pages().filter(({ path }) => path.startsWith('docs/')))(
    '$path, from another page',
    ({ path }) => {
      const linked = pages().some((other) => other.path !== path && other.targets.includes(path))
      expect(linked).toBe(true)
    },
  )
})

test.each(pages())('$path names files that exist', ({ files }) => {
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
})

function commands(): string[] {
  const files = readdirSync(join(ROOT, 'packages/cli/src/commands'))
  return files.filter((file) => !file.includes('.test.')).map((file) => file.replace('.ts', ''))
}

/** The names of all properties in the published schema. */
function rulebookFields(): string[] {
  const names = new Set<string>()
  const visit = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'properties') for (const name of Object.keys(value as object)) names.add(name)
      visit(value)
    }
  }
  visit(rulebookSchema())
  return [...names]
}

/** What installing our packages installs besides. */
function libraries(): string[] {
  return readdirSync(join(ROOT, 'packages')).flatMap((name) => {
    const { dependencies = {} } = JSON.parse(textOf(`packages/${name}/package.json`)) as {
      dependencies?: object
    }
    return Object.keys(dependencies).filter((library) => !library.startsWith('@sluice/'))
  })
}
