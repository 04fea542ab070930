import { createRequire } from 'node:module'

/** What reads all that YAML has. */
export type Yaml = typeof import('yaml')

const require = createRequire(import.meta.url)

/** Loaded by the first file that needs it: of what `sluice serve` would load, it is a tenth, and most files are plain. */
export function yaml(): Yaml {
  return require('yaml') as Yaml
}
