// What imports by name cost a bundle, and what a package takes once it is installed: each has a budget, the size of
// today and a little more. Says all sizes, and fails where one is above its budget. Needs a build.
//   node scripts/sizes.mjs
import { execFileSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/**
 * By package. `bundles`: bytes, minified and compressed (gzip -9), of a program that imports these names and uses them,
 * with what they take from other packages. `unpacked`: bytes of the pack.
 */
const BUDGETS = {
  limiter: {
    bundles: {
      'edge: createLimiter, gcra': [13_750, { edge: ['createLimiter', 'gcra'] }],
      'edge/hono: rateLimit': [12_400, { 'edge/hono': ['rateLimit'] }],
      'edge/fetch: rateLimit': [12_250, { 'edge/fetch': ['rateLimit'] }],
      'edge and edge/hono: a whole limiter': [
        22_800,
        { edge: ['createLimiter', 'gcra', 'ipKey'], 'edge/hono': ['rateLimit'] },
      ],
      '. : createLimiter': [26_700, { '': ['createLimiter'] }],
      'stores/memory: MemoryStore': [13_600, { 'stores/memory': ['MemoryStore'] }],
      'stores/redis: RedisStore': [30_000, { 'stores/redis': ['RedisStore'] }],
      'queue: createQueue': [8_000, { queue: ['createQueue'] }],
      'pipeline: createPipeline': [22_000, { pipeline: ['createPipeline'] }],
      'adapters/hono: rateLimit': [49_700, { 'adapters/hono': ['rateLimit'] }],
      'adapters/fetch: rateLimit': [49_500, { 'adapters/fetch': ['rateLimit'] }],
      'adapters/express: rateLimit': [49_500, { 'adapters/express': ['rateLimit'] }],
    },
    // Raised by 30 kB for what came after the first budget: limits that are assigned to proxies, network rules, figures
    // that are not known, and offenders; and for what is quicker: `allow`, decisions of one step, wildcards by index; and by 20 kB for channels and the
    // table of offenders' keys; by 30 kB for queues with priorities and fair turns; by 17 kB for
    // scripts of Redis that are written for lists of rules, algorithms that answer in two calls, and decisions by several
    // policies without an object for each. Bundles with MemoryStore are 2.5 kB larger for tables that grow in small steps,
    // with a quarter to a seventh of the memory; 0.5 kB more for algorithms that decide in one call, 0.3 kB for
    // tables that move a few slots at a time.
    unpacked: 1_000_000,
  },
  client: {
    bundles: {
      '. : retrying': [12_000, { '': ['retrying'] }],
      // With what limits, decides and reads answers; a limiter comes with it in any case.
      '. : outbound': [25_500, { '': ['outbound'] }],
      'service: createServiceClient': [12_000, { service: ['createServiceClient'] }],
    },
    unpacked: 198_000,
  },
}

async function bundled(folder, imports) {
  const names = Object.entries(imports)
  const lines = names.map(
    ([subpath, wanted], i) =>
      `import { ${wanted.map((name) => `${name} as ${name}${i}`).join(', ')} } from '@sluice/${folder}${subpath && `/${subpath}`}'`,
  )
  const used = names.flatMap(([, wanted], i) => wanted.map((name) => `${name}${i}`))
  const { outputFiles } = await build({
    stdin: { contents: `${lines.join('\n')}\nglobalThis.used = [${used.join()}]`, resolveDir: '.' },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    conditions: ['module', 'import'],
  })
  return gzipSync(outputFiles[0].contents, { level: 9 }).length
}

function unpacked(folder) {
  const told = execFileSync('npm', ['pack', '--dry-run', '--json', `./packages/${folder}`], {
    encoding: 'utf8',
  })
  return JSON.parse(told)[0].unpackedSize
}

const kB = (bytes) => (bytes / 1_000).toFixed(1).padStart(7)
for (const [folder, budgets] of Object.entries(BUDGETS)) {
  const rows = [['the pack, unpacked', unpacked(folder), budgets.unpacked]]
  for (const [name, [budget, imports]] of Object.entries(budgets.bundles))
    rows.push([name, await bundled(folder, imports), budget])
  console.log(`${`@sluice/${folder}`.padEnd(40)}     kB   budget`)
  for (const [name, size, budget] of rows) {
    console.log(`${name.padEnd(38)}${kB(size)}  ${kB(budget)}${size > budget ? '  above its budget' : ''}`)
    if (size > budget) process.exitCode = 1
  }
}
