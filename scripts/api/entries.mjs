// The published packages and what each lets others import: every subpath of `exports` that has types. Files behind
// a pattern are those of the sources, so that what an old build left behind does not count.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export function publishedPackages() {
  return readdirSync('packages')
    .map((folder) => ({
      folder,
      ...JSON.parse(readFileSync(join('packages', folder, 'package.json'), 'utf8')),
    }))
    .filter((manifest) => !manifest.private)
    .map(({ folder, name, exports }) => ({ folder, name, entries: entriesOf(folder, name, exports) }))
}

function entriesOf(folder, name, exports) {
  const declarations = existsSync(join('packages', folder, 'build')) ? 'build' : 'dist'
  return Object.entries(exports)
    .filter(([, target]) => target?.['@sluice/source'] !== undefined)
    .flatMap(([subpath, target]) =>
      filledIn(folder, target['@sluice/source']).map((part) => {
        const source = target['@sluice/source'].replace('*', part)
        const file = join('packages', folder, source.replace(/^\.\/src\//, `${declarations}/`).replace(/ts$/, 'd.ts'))
        if (!existsSync(file)) throw new Error(`${file} is missing: build first`)
        return { subpath: join(name, subpath.replace('*', part)), source, file }
      }),
    )
}

/** What the `*` of a pattern stands for. */
function filledIn(folder, source) {
  if (!source.includes('*')) return ['']
  return readdirSync(join('packages', folder, source.slice(0, source.indexOf('*'))))
    .filter((file) => file.endsWith('.ts') && !/\.(test|samples|test-support)\.ts$|\.services\./.test(file))
    .map((file) => file.slice(0, -'.ts'.length))
}
