// What the library lets others import: `exports`, and `typesVersions` for compilers that do not read it, follow from
// the sources that the manifest names and from the files of the open folders. Says what differs, or writes it.
//   node scripts/subpaths.mjs [--write]
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const MANIFEST = 'packages/limiter/package.json'
/** Every file there is a subpath of its own. */
const OPEN = ['stores', 'adapters', 'compat', 'edge']

const text = readFileSync(MANIFEST, 'utf8')
const manifest = JSON.parse(text)
const names = [
  ...Object.entries(manifest.exports)
    .filter(([subpath]) => subpath.split('/').length < 3 || !OPEN.includes(subpath.split('/')[1]))
    .map(([subpath, target]) => [subpath, target['@sluice/source'].slice('./src/'.length, -'.ts'.length)]),
  ...OPEN.flatMap((folder) =>
    readdirSync(`packages/limiter/src/${folder}`)
      .filter((file) => file.endsWith('.ts') && !/\.(test|test-support)\.ts$/.test(file))
      .map((file) => `${folder}/${file.slice(0, -'.ts'.length)}`)
      .map((name) => [`./${name}`, name]),
  ),
]

const module = (name) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` })
manifest.exports = Object.fromEntries(
  names.map(([subpath, name]) => [
    subpath,
    {
      '@sluice/source': `./src/${name}.ts`,
      // Node, Bun and bundlers that know these take one copy, whether it is imported or required.
      'module-sync': module(name),
      module: `./dist/${name}.js`,
      bun: `./dist/${name}.js`,
      require: { types: `./dist/${name}.d.cts`, default: `./dist/${name}.cjs` },
      ...module(name),
    },
  ]),
)
const isOpen = ([subpath]) => subpath.split('/').length > 2 && OPEN.includes(subpath.split('/')[1])
manifest.typesVersions = {
  '*': Object.fromEntries([
    ...names
      .filter((each) => each[0] !== '.' && !isOpen(each))
      .map(([subpath, name]) => [subpath.slice('./'.length), [`./dist/${name}.d.cts`]]),
    ...OPEN.map((folder) => [`${folder}/*`, [`./dist/${folder}/*.d.cts`]]),
  ]),
}

const expected = `${JSON.stringify(manifest, null, 2)}\n`
if (process.argv.includes('--write')) writeFileSync(MANIFEST, expected)
else if (JSON.stringify(JSON.parse(text)) !== JSON.stringify(manifest)) {
  console.error(`${MANIFEST}: the subpaths differ from the sources; run node scripts/subpaths.mjs --write`)
  process.exitCode = 1
}
