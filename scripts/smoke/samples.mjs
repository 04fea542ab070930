// The samples of the pages, as a reader finds them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A server of docs/frameworks: the first sample of its page. */
export function frameworkSamples() {
  return pagesIn('docs/frameworks').map(({ name, samples: [text] }) => ({
    name,
    text,
    // Its first line names the file it stands in; decorators, say, only TypeScript has.
    typescriptOnly: /^\/\/ \S+\.ts\n/.test(text),
  }))
}

/** The programs of docs/migrate, and what their comments say they print. */
export function migrationSamples() {
  return pagesIn('docs/migrate').flatMap(({ name, samples }) =>
    samples.map((text, i) => ({ name: `${name}-${i + 1}`, text, prints: printed(text) })),
  )
}

function pagesIn(folder) {
  return readdirSync(folder)
    .filter((file) => file !== 'README.md')
    .map((file) => {
      const page = readFileSync(join(folder, file), 'utf8')
      const samples = Array.from(page.matchAll(/^```ts\n(.*?)^```$/gms), ([, text]) => text)
      if (samples.length === 0) throw new Error(`${folder}/${file} has no sample`)
      return { name: file.replace('.md', ''), samples }
    })
}

/** `console.log(a, b) // → 1, 'x'` prints `1 x`. */
function printed(text) {
  const values = Array.from(text.matchAll(/^console\.log\(.*\/\/ → (.*)$/gm), ([, values]) => values)
  return values.map((values) => `${values.replaceAll("'", '').replaceAll(', ', ' ')}\n`).join('')
}
