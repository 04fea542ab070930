import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FAULTS, STORE_FAILURES } from '@sluice/lab'
import { algorithmOptions, algorithms } from '@sluice/limiter/algorithms'
import { dialects } from '@sluice/limiter/respond'
import { parsePart } from '@sluice/limiter/rules'
import { rulebookSchema } from '@sluice/rulebook'
import { describe, expect, test } from 'vitest'
import { pages, ROOT } from './page.ts'

const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

describe('the pages cover', () => {
  test.each(Object.keys(algorithms))('the algorithm %s', (name) => {
    expect(textOf('docs/algorithms/README.md')).toContain(`(${name}.md)`)
  })

  test.each(optionsOfAlgorithms())('the option %s of %s', (option, algorithm) => {
    expect(textOf(`docs/algorithms/${algorithm}.md`)).toMatch(codeWith(option))
  })

  test.each(Object.keys(dialects))('the dialect %s', (name) => {
    expect(textOf('docs/headers.md')).toMatch(new RegExp(`^\\| \`${name}\``, 'm'))
  })

  test.each(commands())('the command %s', (name) => {
    expect(textOf('docs/cli.md')).toContain(`\n## ${name}\n`)
  })

  test.each(Object.keys(FAULTS))('the fault %s', (name) => {
    expect(textOf('docs/load.md')).toMatch(new RegExp(`^\\| \`${name}\``, 'm'))
  })

  test.each(STORE_FAILURES.map(({ name }) => name))('the failure %s', (name) => {
    expect(textOf('docs/drill.md')).toMatch(new RegExp(`^\\| \`${name}\``, 'm'))
  })

  test.each(rulebookFields())('the rulebook field %s', (name) => {
    expect(textOf('docs/rulebook.md')).toMatch(codeWith(name))
  })

  test.each(keyParts())('the key part %s', (name) => {
    expect(textOf('docs/rulebook.md')).toContain(`\`${name}\``)
  })

  test.each(matches('packages/limiter/src/observe/events.ts', /type: '([\w-]+)'/g))(
    'the event %s',
    (name) => {
      expect(textOf('docs/events.md')).toMatch(new RegExp(`^\\| \`${name}\``, 'm'))
    },
  )

  test.each(metricFiles().flatMap((path) => matches(path, /'(sluice_\w+)'/g)))('the metric %s', (name) => {
    expect(textOf('docs/events.md')).toMatch(new RegExp(`^\\| \`${name}\``, 'm'))
  })

  test('OF-31: the figures that applications see, each once', () => {
    const source = textOf('packages/limiter/src/adapters/gate/verdict/info.ts')
    const [, fields = ''] = /export interface RateLimitInfo \{(.*?)\n\}/s.exec(source) ?? []
    const [, rows = ''] = /\n## The figures\n(.*?)\n## /s.exec(textOf('docs/frameworks/README.md')) ?? []
    const names = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name)
    expect(names(rows, /^\| `(\w+)`/gm)).toEqual(names(fields, /^ {2}readonly (\w+):/gm))
  })

  test.each(subpaths())('the subpath %s', (name) => {
    expect(textOf('ARCHITECTURE.md')).toContain(`\`@sluice/limiter/${name}\``)
  })

  test.each(filesIn('packages/limiter/src/adapters'))('the adapter %s', (name) => {
    expect(textOf('docs/frameworks/README.md')).toContain(`(${name}.md)`)
  })

  test.each(filesIn('packages/limiter/src/stores').filter(isStore))('the store %s', (name) => {
    const samples = pages().flatMap(({ blocks }) => blocks.map(({ text }) => text))
    const named = name === 'memory' ? 'new MemoryStore(' : `@sluice/limiter/stores/${name}'`
    expect(samples.some((text) => text.includes(named))).toBe(true)
  })

  test.each(filesIn('packages/limiter/src/compat'))('the store %s for another library', (name) => {
    const samples = pages().flatMap(({ blocks }) => blocks.map(({ text }) => text))
    expect(samples.some((text) => text.includes(`@sluice/limiter/compat/${name}'`))).toBe(true)
  })

  test.each(shapedFiles())('the class with declared fields in %s', (file) => {
    expect(textOf('ARCHITECTURE.md')).toContain(`\`${file}\``)
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

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/glossary.md'])(
  '%s uses names that the sources have',
  (path) => {
    const names = [...textOf(path).matchAll(/`([a-zA-Z_]\w*)`/g)].map(([, name]) => name!)
    expect(names.filter((name) => name !== 'NAME' && !words().has(name))).toEqual([])
  },
)

test('the library has no dependencies', () => {
  expect(JSON.parse(textOf('packages/limiter/package.json'))).not.toHaveProperty('dependencies')
})

let knownWords: ReadonlySet<string> | undefined
/** All words of the packages' sources, scripts and manifests. */
function words(): ReadonlySet<string> {
  knownWords ??= new Set(
    ['packages', 'scripts']
      .flatMap((folder) =>
        readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
          join(folder, file),
        ),
      )
      .concat('biome.json')
      .filter((file) => /\.(ts|mjs|json)$/.test(file) && !/(node_modules|dist)\//.test(file))
      .flatMap((file) => textOf(file).match(/\w+/g) ?? []),
  )
  return knownWords
}

/** Code in running text, or in a table, that has this word. */
function codeWith(word: string): RegExp {
  return new RegExp(`\`[^\`\\n]*\\b${word}\\b[^\`\\n]*\``)
}

function commands(): string[] {
  return filesIn('packages/cli/src/commands')
}

/** The names of a folder's TypeScript files, without tests and folders. */
function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((file) => /^[\w-]+\.ts$/.test(file))
    .map((file) => file.replace('.ts', ''))
}

function metricFiles(): string[] {
  const folders = ['packages/service/src/observe', 'packages/observe/src/metrics']
  return folders.flatMap((folder) =>
    filesIn(folder)
      .filter((name) => name.endsWith('metrics'))
      .map((name) => `${folder}/${name}.ts`),
  )
}

function isStore(name: string): boolean {
  return /implements Store\b/.test(textOf(`packages/limiter/src/stores/${name}.ts`))
}

function optionsOfAlgorithms(): [string, string][] {
  return [...algorithmOptions].flatMap(([option, { algorithms }]) =>
    algorithms.map((algorithm): [string, string] => [option, algorithm]),
  )
}

/** As the error for an unknown one lists them. */
function keyParts(): string[] {
  try {
    parsePart('?')
    return []
  } catch (error) {
    return (error as Error).message.split('there are ')[1]!.split(', ')
  }
}

/** All that a pattern's group finds in a file, once each. */
function matches(path: string, pattern: RegExp): string[] {
  return [...new Set(Array.from(textOf(path).matchAll(pattern), ([, found]) => found!))]
}

/** The public subpaths of the library that have a name of their own. */
function subpaths(): string[] {
  const { exports } = JSON.parse(textOf('packages/limiter/package.json')) as { exports: object }
  return Object.keys(exports)
    .filter((name) => /^\.\/[\w-]+$/.test(name))
    .map((name) => name.replace('./', ''))
}

/** Files of the library with a class whose fields are only declared. */
function shapedFiles(): string[] {
  const files = readdirSync(join(ROOT, 'packages/limiter/src'), { recursive: true, encoding: 'utf8' })
  return files.filter(
    (file) => file.endsWith('.ts') && /^ {2}declare /m.test(textOf(`packages/limiter/src/${file}`)),
  )
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
