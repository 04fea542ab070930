// Brings the real servers that the tests start: from the system's packages, where they are not there yet.
import { spawnSync } from 'node:child_process'

const needed = {
  'redis-server': 'redis-server',
  'redis-sentinel': 'redis-sentinel',
  nginx: 'nginx-light',
  'systemd-analyze': 'systemd',
}

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
const missing = Object.entries(needed).filter(
  ([program]) => spawnSync('which', [program], { env }).status !== 0,
)
if (missing.length > 0) {
  const packages = [...new Set(missing.map(([, name]) => name))]
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  const apt = (...args) => {
    const [program, ...rest] = [...sudo, 'apt-get', ...args]
    return spawnSync(program, rest, {
      stdio: 'inherit',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status
  }
  const failed =
    spawnSync('which', ['apt-get']).status !== 0 ||
    apt('update', '-q') !== 0 ||
    apt('install', '-y', '-q', '--no-install-recommends', ...packages) !== 0
  if (failed) {
    console.error(`The tests start real servers: install ${packages.join(', ')} with your package manager.`)
    process.exit(1)
  }
}
