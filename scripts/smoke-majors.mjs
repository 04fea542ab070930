// The packed library and client in folders of their own, installed as npm resolves it, without --force: beside the oldest and the
// newest major of each framework, and with the compilers, test runners, bundlers and runtimes that people have.
//   node scripts/smoke-majors.mjs [RESULTS.json] [NAME…]
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { countAttempts, outputOf, withServer } from './smoke/attempts.mjs'
import { toCommonJs, toCommonJsTypeScript } from './smoke/common-js.mjs'
import { corePrograms } from './smoke/core-programs.mjs'
import { question } from './smoke/questions.mjs'
import { ASKED } from './smoke/service-client.mjs'

const root = mkdtempSync(join(tmpdir(), 'sluice-majors-'))
const args = process.argv.slice(2)
const results = args[0]?.endsWith('.json') ? args.shift() : undefined

const example = (name, file = 'server.js') => readFileSync(`examples/${name}/${file}`, 'utf8')

/** A framework's example as ES module and CommonJS, running beside that version of the framework. */
const framework = (name, major, { packages = [], adapt = (text) => text } = {}) => ({
  name: `${name} ${major}`,
  packages,
  files: {
    'esm/package.json': '{ "type": "module" }',
    'esm/server.js': adapt(example(name)),
    'server.js': toCommonJs(adapt(example(name))),
  },
  async run(folder) {
    for (const file of ['esm/server.js', 'server.js'])
      await withServer(folder, process.execPath, [file], (url) => question(name, url, folder))
  },
})

const nest = (major, more = []) => ({
  name: `nest ${major}`,
  packages: [
    ...['common', 'core', 'platform-express'].map((part) => `@nestjs/${part}@${major}`),
    ...['reflect-metadata@0.2', 'rxjs@7', 'typescript@5.9', '@types/node@20', ...more],
  ],
  files: {
    // Nest 12 is an ES module itself: Node 20.19 and newer requires it.
    'server.ts': toCommonJsTypeScript(example('nest', 'server.ts')),
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        ...{ module: 'nodenext', target: 'es2022', types: ['node'], strict: true, skipLibCheck: true },
        ...{ experimentalDecorators: true, emitDecoratorMetadata: true },
      },
      files: ['server.ts'],
    }),
  },
  async run(folder) {
    await outputOf(folder, process.execPath, 'node_modules/typescript/bin/tsc')
    await withServer(folder, process.execPath, ['server.js'], (url) => question('nest', url, folder))
  },
})

const ANSWERS = `
  const limiter = createLimiter({ policies: { login: { algorithm: 'sliding-window-log', limit: 2, period: '1m' } } })
  const answers = [1, 2, 3].map(() => limiter.check('ada').allowed).join()`
const JEST = `
  const { createLimiter, ConfigError } = require('@sluice/limiter')
  const errors = require('@sluice/limiter/errors')
  const { rateLimit } = require('@sluice/limiter/adapters/express')
  test('limits', () => {
    ${ANSWERS}
    expect(answers).toBe('true,true,false')
    expect(errors.ConfigError).toBe(ConfigError)
    expect(typeof rateLimit({ limit: 1, period: '1s' })).toBe('function')
  })
  test('docs/testing.md', () => {
    const { MemoryStore } = require('@sluice/limiter')
    jest.useFakeTimers()
    const store = new MemoryStore({ clock: { now: () => Date.now() * 1000 } })
    const limiter = createLimiter({ store, policies: { api: { algorithm: 'gcra', limit: 1, period: '1m' } } })
    expect([limiter.check('ada').allowed, limiter.check('ada').allowed]).toEqual([true, false])
    jest.advanceTimersByTime(60_000)
    expect(limiter.check('ada').allowed).toBe(true)
    jest.useRealTimers()
  })`
const TYPED = `
  import { createLimiter, type Decision } from '@sluice/limiter'
  import { rateLimit } from '@sluice/limiter/adapters/express'
  import { MemoryStore } from '@sluice/limiter/stores/memory'
  import { expressRateLimitStore as compatible } from '@sluice/limiter/compat/express-rate-limit'
  ${ANSWERS}
  const decision: Decision = limiter.check('grace')
  if (answers !== 'true,true,false' || !decision.allowed) throw new Error(answers)
  export const parts = [rateLimit({ limit: 1, period: '1s' }), new MemoryStore(), compatible]
  console.log('ok')`
const ONE_COPY = `
  import { createRequire } from 'node:module'
  import { ConfigError, createLimiter } from '@sluice/limiter'
  import { rateLimit } from '@sluice/limiter/adapters/hono'
  const required = createRequire(import.meta.url)('@sluice/limiter')
  if (required.ConfigError !== ConfigError) throw new Error('two copies')
  ${ANSWERS}
  if (answers !== 'true,true,false') throw new Error(answers)
  console.log('ok')`
const WORKER = `
  import { createServiceClient } from '@sluice/client/service'
  import { createLimiter } from '@sluice/limiter'
  import { rateLimit } from '@sluice/limiter/adapters/fetch'
  import { RedisStore } from '@sluice/limiter/stores/redis'
  new RedisStore({ send: async () => [] })
  const limit = rateLimit({ limit: 2, period: '1m', key: () => 'all' })
  const hello = async () => {
    ${ASKED.replace(/\n {2}asked\(\)/, '\n  await asked()')}
    return new Response('hello')
  }
  export default { fetch: limit.wrap(hello), used: createLimiter }`

const printsOk = async (folder, ...args) => assert.equal((await outputOf(folder, ...args)).trim(), 'ok')

const PROGRAMS = { 'main.mjs': ONE_COPY, 'client.mjs': corePrograms['client.mjs'] }

/** Each with a runtime and what it takes before the program's name. */
async function runsPrograms(folder, ...runtime) {
  await printsOk(folder, ...runtime, 'main.mjs')
  await outputOf(folder, ...runtime, 'client.mjs')
}

const compiled = (name, compiler, options) => ({
  name,
  packages: [compiler, 'express@5', '@types/express@5', '@types/node@20'],
  files: { 'main.ts': TYPED },
  async run(folder) {
    const strict = ['--strict', '--target', 'es2022', '--types', 'node', ...options]
    await outputOf(folder, process.execPath, 'node_modules/typescript/bin/tsc', ...strict, 'main.ts')
    await printsOk(folder, process.execPath, 'main.js')
  },
})

const tools = [
  compiled('TypeScript 5.9, module commonjs', 'typescript@5.9', [
    '--module',
    'commonjs',
    '--esModuleInterop',
  ]),
  compiled('TypeScript 5.9, module node16', 'typescript@5.9', ['--module', 'node16']),
  compiled('TypeScript 5.9, module nodenext', 'typescript@5.9', ['--module', 'nodenext']),
  compiled('TypeScript 7, module commonjs', 'typescript@7', ['--module', 'commonjs']),
  compiled('TypeScript 7, module nodenext', 'typescript@7', ['--module', 'nodenext']),
  {
    name: 'Jest 30 in a CommonJS project',
    packages: ['jest@30', 'express@5'],
    files: { 'limits.test.js': JEST },
    run: (folder) => outputOf(folder, process.execPath, 'node_modules/jest/bin/jest.js'),
  },
  {
    name: 'Vitest',
    packages: ['vitest@4'],
    files: {
      'limits.test.mjs': `import { expect, test } from 'vitest'
        import { createLimiter } from '@sluice/limiter'
        test('limits', () => { ${ANSWERS}
          expect(answers).toBe('true,true,false') })`,
    },
    run: (folder) => outputOf(folder, process.execPath, 'node_modules/vitest/vitest.mjs', 'run'),
  },
  {
    name: 'esbuild',
    packages: ['esbuild'],
    files: {
      'main.mjs': ONE_COPY.replace(/import \{ createRequire.*|createRequire\(import.meta.url\)/g, (found) =>
        found.startsWith('import') ? '' : 'require',
      ),
    },
    async run(folder) {
      const options = ['main.mjs', '--bundle', '--platform=node', '--outfile=main.cjs']
      await outputOf(folder, 'node_modules/.bin/esbuild', ...options)
      await printsOk(folder, process.execPath, 'main.cjs')
    },
  },
  {
    name: 'Node',
    packages: [],
    files: PROGRAMS,
    run: (folder) => runsPrograms(folder, process.execPath),
  },
  {
    name: 'Bun',
    packages: ['bun@1'],
    files: PROGRAMS,
    run: (folder) => runsPrograms(folder, 'node_modules/.bin/bun'),
  },
  {
    name: 'Deno',
    packages: ['deno@2'],
    files: PROGRAMS,
    run: (folder) => runsPrograms(folder, 'node_modules/.bin/deno', 'run', '-A', '--node-modules-dir=manual'),
  },
  {
    name: 'workerd',
    packages: ['miniflare@4', 'esbuild'],
    files: {
      'worker.mjs': WORKER,
      'main.mjs': `
        import { Miniflare } from 'miniflare'
        const worker = new Miniflare({ modules: true, scriptPath: 'bundled.mjs', compatibilityDate: '2025-06-01' })
        const statuses = []
        for (let i = 0; i < 3; i++) statuses.push((await worker.dispatchFetch('http://localhost/')).status)
        await worker.dispose()
        if (statuses.join() !== '200,200,429') throw new Error(statuses.join())
        console.log('ok')`,
    },
    async run(folder) {
      await outputOf(
        folder,
        'node_modules/.bin/esbuild',
        'worker.mjs',
        '--bundle',
        '--format=esm',
        '--outfile=bundled.mjs',
      )
      await printsOk(folder, process.execPath, 'main.mjs')
    },
  },
]

const rows = [
  framework('express', 4, { packages: ['express@4'] }),
  framework('express', 5, { packages: ['express@5'] }),
  framework('fastify', 4, { packages: ['fastify@4'] }),
  framework('fastify', 5, { packages: ['fastify@5'] }),
  framework('koa', 2, { packages: ['koa@2'] }),
  framework('koa', 3, { packages: ['koa@3'] }),
  framework('hono', 4, { packages: ['hono@4', '@hono/node-server@2'] }),
  framework('graphql', 15, { packages: ['graphql@15'], adapt: withPositionalError }),
  framework('graphql', 16, { packages: ['graphql@16'] }),
  framework('graphql', 17, { packages: ['graphql@17'] }),
  framework('websocket', 7, { packages: ['ws@7'], adapt: withServerOfWs7 }),
  framework('websocket', 8, { packages: ['ws@8'] }),
  nest(10),
  nest(11),
  nest(12),
  ...tools,
].filter(({ name }) => args.length === 0 || args.some((wanted) => name.includes(wanted)))

/** GraphQL 15 takes the original error as its sixth argument. */
function withPositionalError(text) {
  return text.replace(
    'new GraphQLError(error.message, { originalError: error })',
    'new GraphQLError(error.message, null, null, null, null, error)',
  )
}

/** ws 7 has its server as a property of its one export. */
function withServerOfWs7(text) {
  return text
    .replace("import { WebSocketServer } from 'ws'", "import WebSocket from 'ws'")
    .replace('new WebSocketServer', 'new WebSocket.Server')
}

function write(folder, files) {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
}

let outcome = { passed: 0, failed: 1 }
try {
  const packs = ['limiter', 'client'].map((name) => {
    const folder = resolve('packages', name)
    const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', root, folder], {
      encoding: 'utf8',
    })
    return join(root, JSON.parse(packed)[0].filename)
  })
  const attempts = rows.map(({ name, packages, files, run }, i) => [
    name,
    async () => {
      const folder = join(root, `project-${i}`)
      write(folder, { 'package.json': '{ "private": true }', ...files })
      const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
      await outputOf(folder, 'npm', 'install', ...quiet, ...packs, ...packages)
      await run(folder)
      rmSync(folder, { recursive: true, force: true })
    },
  ])
  outcome = await countAttempts(attempts)
} catch (error) {
  console.error(error.message)
} finally {
  rmSync(root, { recursive: true, force: true })
  if (results) writeFileSync(results, JSON.stringify(outcome))
}
process.exitCode = outcome.failed > 0 ? 1 : 0
