// Packs the packages, installs them in an empty folder and uses them, as a stranger would: the samples of the
// frameworks' pages as ES modules, by require() and from TypeScript, on this Node and on those named.
//   node scripts/smoke.mjs RESULTS.json [NODE_MAJOR…]
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countAttempts, outputOf, withServer } from './smoke/attempts.mjs'
import { toCommonJs, toCommonJsTypeScript } from './smoke/common-js.mjs'
import { corePrograms, coreTyped } from './smoke/core-programs.mjs'
import { install, installExpress4, paste } from './smoke/installation.mjs'
import { question } from './smoke/questions.mjs'
import { frameworkSamples, migrationSamples } from './smoke/samples.mjs'

const [results, ...majors] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'sluice-smoke-'))

const TYPESCRIPT = [
  ...['--strict', '--skipLibCheck', 'false', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'],
  ...['--experimentalDecorators', '--emitDecoratorMetadata'], // for Nest
]
const COMPILERS = [
  ['TypeScript 5.9', 'typescript-5', '--noEmit'],
  ['TypeScript 7', 'typescript', '--noEmitOnError'],
]

function allSamples() {
  const frameworks = frameworkSamples()
  const express = frameworks.find(({ name }) => name === 'express')
  const samples = [...frameworks, { ...express, name: 'express-4' }, ...migrationSamples()]
  return samples.map((sample) => ({
    ...sample,
    folder: sample.name === 'express-4' ? join(folder, 'express-4') : folder,
    kinds: sample.typescriptOnly ? ['ts-esm', 'ts-cjs'] : ['esm', 'cjs', 'ts-esm', 'ts-cjs'],
  }))
}

function pasteAll(samples) {
  for (const { folder, name, text, typescriptOnly } of samples) {
    if (!typescriptOnly) {
      paste(folder, 'esm', `${name}.js`, text)
      paste(folder, 'cjs', `${name}.js`, toCommonJs(text))
    }
    paste(folder, 'ts-esm', `${name}.ts`, text)
    paste(folder, 'ts-cjs', `${name}.ts`, toCommonJsTypeScript(text))
  }
  paste(folder, 'ts-esm', 'core.ts', coreTyped)
  paste(folder, 'ts-cjs', 'core.ts', coreTyped)
  for (const [file, text] of Object.entries(corePrograms)) writeFileSync(join(folder, file), text)
}

/** Each sample by itself, since what one declares could help another. The newest compiler writes what is run. */
function compilations(samples) {
  return COMPILERS.flatMap(([compiler, name, emit]) => {
    const tsc = join(folder, 'node_modules', name, 'bin/tsc')
    return samples.map(({ name, folder }) => {
      const args = [tsc, ...TYPESCRIPT, emit, `ts-esm/${name}.ts`, `ts-cjs/${name}.ts`]
      return [`${name} compiled by ${compiler}`, () => outputOf(folder, process.execPath, ...args)]
    })
  })
}

function runs(samples, node) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  const programs = [
    ...Object.keys(corePrograms).map((file) => [file, file]),
    ['sluice --version', 'node_modules/@sluice/cli/bin/sluice.js', '--version'],
  ]
  return [
    ...programs.map(([what, ...args]) => [
      `${what} on Node ${version}`,
      () => outputOf(folder, node, ...args),
    ]),
    ...samples.flatMap((sample) =>
      sample.kinds.map((kind) => [
        `${sample.name} as ${kind} on Node ${version}`,
        () => runSample(sample, kind, node),
      ]),
    ),
  ]
}

async function runSample({ folder, name, prints }, kind, node) {
  const file = `${kind}/${name}.js`
  if (prints === undefined) await withServer(folder, node, [file], (url) => question(name, url, folder))
  else assert.equal(await outputOf(folder, node, file), prints)
}

let outcome = { passed: 0, failed: 1 }
try {
  install(folder, majors)
  installExpress4(folder)
  const samples = allSamples()
  pasteAll(samples)
  const nodes = [
    process.execPath,
    ...majors.map((major) => join(folder, 'node_modules', `node-${major}`, 'bin', 'node')),
  ]
  const compiled = await countAttempts(compilations([...samples, { name: 'core', folder }]))
  const run = await countAttempts(nodes.flatMap((node) => runs(samples, node)))
  outcome = { passed: compiled.passed + run.passed, failed: compiled.failed + run.failed }
} catch (error) {
  console.error(error.message)
} finally {
  rmSync(folder, { recursive: true, force: true })
  if (results) writeFileSync(results, JSON.stringify(outcome))
}
process.exitCode = outcome.failed > 0 ? 1 : 0
