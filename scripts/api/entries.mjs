// The published packages and what each lets others import: every subpath of `exports` that has a source, with the
// declarations that the compiler made of it. One with a `main` has CommonJS beside its ES modules.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export function publishedPackages() {
  return readdirSync('packages')
    .map((folder) => ({
      folder,
      ...JSON.parse(readFileSync(join('packages', folder, 'package.json'), 'utf8')),
    }))
    .filter((manifest) => !manifest.private)
    .map(({ folder, name, main, exports }) => ({
      folder,
      name,
      commonJs: main !== undefined,
      entries: entriesOf(folder, name, exports),
    }))
}

function entriesOf(folder, name, exports) {
  return Object.entries(exports)
    .filter(([, target]) => target['@sluice/source'] !== undefined)
    .map(([subpath, target]) => {
      const source = target['@sluice/source'].slice('./src/'.length, -'.ts'.length)
      const file = join('packages', folder, 'build', `${source}.d.ts`)
      if (!existsSync(file)) throw new Error(`${file} is missing: build first`)
      return { subpath: join(name, subpath), source, file }
    })
}
