// Makes what the packages hold, dist/: their subpaths as ES modules, with one copy of what they share, and their types:
// a module takes 0.3 ms to load, and a service has hundreds. Some packages are CommonJS too, for apps of all kinds: these
// are compressed, and their types are written once, as CommonJS, which both kinds of modules can import.
// And the pages: the dashboard, in what the package observe holds, and the report, in what the package lab holds.
//   node scripts/bundle.mjs (after `tsc -b`, which writes declarations to build/)
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { publishedPackages } from './api/entries.mjs'

/** `'./file.ts'` in a declaration. */
const SOURCE = /(['"]\.[^'"]*)\.ts(['"])/g
/** Of declarations, which nobody edits. */
const INDENT = /^ +/gm
const PAGES = 'packages/dashboard/src'
/** Part of what is made of a package, with its licence, not installed beside it: zod's modules are a tenth of a service's start. */
const BUNDLED = /^zod(?:\/|$)/

/** No subpaths: programs of threads and of the command line, and what scripts/settings.mjs and bench/ import. */
const PROGRAMS = {
  service: ['rules/load-thread', 'grpc/definitions'],
  lab: ['jobs/job-thread'],
  cli: ['main', 'serve/flags'],
}

await Promise.all(
  publishedPackages().map(async ({ folder, entries, commonJs }) => {
    const home = join('packages', folder)
    const names = entries.map(({ source }) => source)
    rmSync(join(home, 'dist'), { recursive: true, force: true })
    if (commonJs) await bundle(home, names)
    else await bundleForNode(home, [...names, ...(PROGRAMS[folder] ?? [])])
    writeTypes(home, names, commonJs)
  }),
)
copyFileSync('node_modules/zod/LICENSE', 'packages/rulebook/dist/LICENSE-zod.txt')
await bundleDashboard()
await bundleReport()

function modulesOf(home, names, platform) {
  return rolldown({
    cwd: resolve(home),
    input: Object.fromEntries(names.map((name) => [name, `./src/${name}.ts`])),
    external: (id) => !/^[./]/.test(id) && !BUNDLED.test(id),
    platform,
  })
}

/** As it was written. What is shared stands beside the subpaths, as far from the package's folder as in src. */
async function bundleForNode(home, names) {
  const bundle = await modulesOf(home, names, 'node')
  await bundle.write({
    dir: resolve(home, 'dist'),
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    comments: { annotation: false, legal: false, jsdoc: false },
    sourcemap: true,
    sourcemapExcludeSources: true, // src is in the package
  })
  await bundle.close()
}

async function bundle(home, names) {
  const bundle = await modulesOf(home, names, 'neutral')
  for (const [format, extension] of [
    ['esm', 'js'],
    ['cjs', 'cjs'],
  ]) {
    await bundle.write({
      dir: resolve(home, 'dist'),
      format,
      entryFileNames: `[name].${extension}`,
      chunkFileNames: `shared/[name]-[hash].${extension}`,
      comments: { annotation: true, legal: false, jsdoc: false },
      minify: {
        // Names of classes and functions stay, for stack traces; in CommonJS, for old tools alone, those of classes.
        compress: { keepNames: { function: true, class: true } },
        mangle: { toplevel: true, keepNames: { function: format === 'esm', class: true } },
        codegen: { removeWhitespace: true },
      },
    })
  }
  await bundle.close()
}

/** The page for operators: three files that are served as they are. */
async function bundleDashboard() {
  const target = 'packages/observe/dist/page'
  await bundlePage('./main.ts', target, 'dashboard', 'esm')
  writeStyles(join(target, 'dashboard.css'), 'dashboard.css')
  writeFileSync(join(target, 'index.html'), readFileSync(`${PAGES}/index.html`))
}

/** The page of a report: a script and styles that are written into each. */
async function bundleReport() {
  const target = 'packages/lab/dist/page'
  await bundlePage('./report/main.ts', target, 'report', 'iife')
  writeStyles(join(target, 'report.css'), 'report/report.css')
}

async function bundlePage(input, target, name, format) {
  rmSync(target, { recursive: true, force: true })
  const bundle = await rolldown({ cwd: resolve(PAGES), input: { [name]: input }, platform: 'browser' })
  await bundle.write({ dir: resolve(target), format, minify: true })
  await bundle.close()
}

/** With those of the curves, and the colours of all pages. */
function writeStyles(target, styles) {
  const files = ['node_modules/uplot/dist/uPlot.min.css', `${PAGES}/base.css`, `${PAGES}/${styles}`]
  writeFileSync(target, files.map((file) => readFileSync(file, 'utf8')).join('\n'))
}

/** The declarations that the subpaths reach. */
function writeTypes(home, names, commonJs) {
  const written = new Set()
  const write = (file, text) => {
    const path = join(home, 'dist', file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const copy = (name) => {
    if (written.has(name)) return
    written.add(name)
    const text = readFileSync(join(home, 'build', `${name}.d.ts`), 'utf8')
    const types = text.replace(INDENT, '')
    if (commonJs) write(`${name}.d.cts`, types.replaceAll(SOURCE, '$1.cjs$2'))
    else write(`${name}.d.ts`, types.replaceAll(SOURCE, '$1.js$2'))
    for (const [, specifier] of text.matchAll(SOURCE)) copy(join(dirname(name), specifier.slice(1)))
  }
  for (const name of names) {
    copy(name)
    if (commonJs) write(`${name}.d.ts`, `export * from './${basename(name)}.cjs'\n`)
  }
}
