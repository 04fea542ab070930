// What the packages with CommonJS let others import: `exports`, and `typesVersions` for compilers that do not read it,
// follow from the sources that the manifest names and from the files of the open folders. Says what differs, or writes it.
//   node scripts/subpaths.mjs [--write]
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The open folders of each package: every file there is a subpath of its own. */
const OPEN = { limiter: ['stores', 'adapters', 'compat', 'edge'], client: ['.'] }

const module = (name) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` })

for (const [folder, open] of Object.entries(OPEN)) {
  const file = `packages/${folder}/package.json`
  const text = readFileSync(file, 'utf8')
  const given = JSON.parse(text)
  const manifest = { ...given, ...subpathsOf(folder, given.exports, open) }
  if (process.argv.includes('--write')) writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
  else if (JSON.stringify(given) !== JSON.stringify(manifest)) {
    console.error(`${file}: the subpaths differ from the sources; run node scripts/subpaths.mjs --write`)
    process.exitCode = 1
  }
}

function subpathsOf(folder, exports, open) {
  const isOpen = (subpath) => open.includes(folderOf(subpath))
  const closed = Object.entries(exports)
    .filter(([subpath]) => !isOpen(subpath))
    .map(([subpath, target]) => [subpath, target['@sluice/source'].slice('./src/'.length, -'.ts'.length)])
  const names = [...closed, ...open.flatMap((each) => namesIn(`packages/${folder}/src`, each))]
  return {
    exports: Object.fromEntries(names.map(([subpath, name]) => [subpath, targetOf(name)])),
    typesVersions: {
      '*': Object.fromEntries(
        names
          .filter(([subpath]) => subpath !== '.')
          .map(([subpath, name]) =>
            isOpen(subpath) && folderOf(subpath) !== '.'
              ? [`${folderOf(subpath)}/*`, [`./dist/${folderOf(subpath)}/*.d.cts`]]
              : [subpath.slice('./'.length), [`./dist/${name}.d.cts`]],
          ),
      ),
    },
  }
}

/** `stores` of `./stores/redis`; `.` of `./service` and of the package itself. */
function folderOf(subpath) {
  return subpath.split('/').slice(1, -1).join('/') || '.'
}

/** The subpaths of an open folder, with their sources. */
function namesIn(source, folder) {
  return readdirSync(join(source, folder))
    .filter((file) => file.endsWith('.ts') && !/\.(test|test-support)\.ts$/.test(file))
    .map((file) => join(folder, file.slice(0, -'.ts'.length)))
    .map((name) => [name === 'index' ? '.' : `./${name}`, name])
}

function targetOf(name) {
  return {
    '@sluice/source': `./src/${name}.ts`,
    // Node, Bun and bundlers that know these take one copy, whether it is imported or required.
    'module-sync': module(name),
    module: `./dist/${name}.js`,
    bun: `./dist/${name}.js`,
    require: { types: `./dist/${name}.d.cts`, default: `./dist/${name}.cjs` },
    ...module(name),
  }
}
