// Which limiters have which faults: `npm run faults`. It writes the table of docs/other-limiters.md, in about two minutes.
// nginx and haproxy are taken from PATH, envoyproxy/ratelimit from RATELIMIT (its service_cmd, with redis-server).
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = new URL('..', import.meta.url).pathname
const page = join(root, 'docs/other-limiters.md')
const folder = mkdtempSync(join(tmpdir(), 'sluice-faults-'))
const children = []

const write = (name, text) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const versionOf = (name) =>
  JSON.parse(readFileSync(join(root, 'bench/node_modules', name, 'package.json'), 'utf8')).version
const printedBy = (program, ...args) => {
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env: withSbin() })
  return `${stdout}${stderr}`
}
const withSbin = () => ({ ...process.env, PATH: `${process.env.PATH}:/usr/sbin` })

function start(port, command, args, env = {}) {
  const child = spawn(command, args, { stdio: 'ignore', env: { ...withSbin(), ...env }, detached: true })
  child.on('error', ({ message }) => console.error(`${command}: ${message}`))
  children.push(child)
  return answers(port)
}

async function answers(port) {
  for (let i = 0; i < 200; i++) {
    const open = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.setTimeout(1_000, () => resolve(false))
    })
    if (open) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nothing listens at ${port}`)
}

const nodeServer = (name) => (port) =>
  start(port, process.execPath, [join(root, 'bench/faults-server.mjs'), name], { PORT: `${port}` })

const nginx = (more) => (port) =>
  start(port, 'nginx', [
    '-p',
    folder,
    '-c',
    write(
      `nginx-${port}.conf`,
      `daemon off; pid ${folder}/nginx-${port}.pid; error_log /dev/null; events {}
http {
  access_log off;
  client_body_temp_path ${folder}/nginx-body; proxy_temp_path ${folder}/nginx-proxy;
  fastcgi_temp_path ${folder}/nginx-fastcgi; uwsgi_temp_path ${folder}/nginx-uwsgi; scgi_temp_path ${folder}/nginx-scgi;
  limit_req_zone $binary_remote_addr zone=one:10m rate=5r/s;
  server { listen ${port}; location / { limit_req zone=one burst=9 nodelay; ${more} try_files /none @hello; } location @hello { return 200; } }
}`,
    ),
  ])

const haproxy = (port) =>
  start(port, 'haproxy', [
    '-db',
    '-f',
    write(
      `haproxy-${port}.cfg`,
      `defaults
  mode http
  timeout client 30s
  timeout connect 5s
  timeout server 30s
frontend web
  bind :${port}
  stick-table type ip size 100k expire 30s store http_req_rate(2s)
  http-request track-sc0 src
  http-request deny deny_status 429 if { sc_http_req_rate(0) gt 10 }
  http-request return status 200
`,
    ),
  ])

const serve = (port) =>
  start(port, process.execPath, [
    join(root, 'packages/cli/bin/sluice.js'),
    'serve',
    write('rules.yaml', 'domain: d\nlimits: [{ name: each, key: [user], limit: 10/2s }]\n'),
    ...['--http', `127.0.0.1:${port}`, '--admin', '127.0.0.1:0'],
  ])

async function ratelimit(port) {
  const redis = await freePort()
  await start(redis, 'redis-server', ['--port', `${redis}`, '--bind', '127.0.0.1', '--save', ''])
  spawnSync('mkdir', ['-p', join(folder, 'ratelimit/config')])
  write(
    'ratelimit/config/d.yaml',
    'domain: d\ndescriptors: [{ key: user, rate_limit: { unit: second, requests_per_unit: 10 } }]\n',
  )
  const [grpc, debug] = [await freePort(), await freePort()]
  await start(port, process.env.RATELIMIT, [], {
    ...{ USE_STATSD: 'false', REDIS_SOCKET_TYPE: 'tcp', REDIS_URL: `127.0.0.1:${redis}`, LOG_LEVEL: 'error' },
    ...{ RUNTIME_ROOT: folder, RUNTIME_SUBDIRECTORY: 'ratelimit', RUNTIME_WATCH_ROOT: 'false' },
    ...{ PORT: `${port}`, GRPC_PORT: `${grpc}`, DEBUG_PORT: `${debug}`, HOST: '127.0.0.1' },
    ...{ GRPC_HOST: '127.0.0.1', DEBUG_HOST: '127.0.0.1' },
  })
}

const RATELIMIT = 'envoyproxy/ratelimit'
const addresses = { path: '/', more: ['--own-addresses', '--limit', '10/2s'] }
const bucket = { path: '/', more: ['--own-addresses', '--limit', '10/2s', '--burst', '10'] }
const userAs = (path, body, limit, more = []) => ({ path, more: ['--body', body, '--limit', limit, ...more] })
const ours = '{"domain":"d","request":{"attributes":{"user":"{key}"}}}'
const theirs = '{"domain":"d","descriptors":[{"entries":[{"key":"user","value":"{key}"}]}]}'
const nginxVersion = /nginx\/([\d.]+)/.exec(printedBy('nginx', '-v'))?.[1]
const haproxyVersion = /version ([\d.]+)/.exec(printedBy('haproxy', '-v'))?.[1]
const sluiceVersion = JSON.parse(readFileSync(join(root, 'packages/limiter/package.json'), 'utf8')).version
const erl = versionOf('express-rate-limit')

const subjects = [
  ['nginx limit_req', nginxVersion, nginx(''), bucket],
  ['nginx limit_req, status 429', nginxVersion, nginx('limit_req_status 429;'), bucket],
  ['HAProxy stick table', haproxyVersion, haproxy, addresses],
  ['express-rate-limit', erl, nodeServer('express-rate-limit'), addresses],
  ['… with `trust proxy`', erl, nodeServer('express-rate-limit, trust proxy'), addresses],
  ['… in 2 processes', erl, nodeServer('express-rate-limit, 2 processes'), addresses],
  [
    'rate-limiter-flexible',
    versionOf('rate-limiter-flexible'),
    nodeServer('rate-limiter-flexible'),
    addresses,
  ],
  ['@fastify/rate-limit', versionOf('@fastify/rate-limit'), nodeServer('@fastify/rate-limit'), addresses],
  ['hono-rate-limiter', versionOf('hono-rate-limiter'), nodeServer('hono-rate-limiter'), addresses],
  ...(process.env.RATELIMIT
    ? [[RATELIMIT, process.env.RATELIMIT_VERSION, ratelimit, userAs('/json', theirs, '10/1s')]]
    : []),
  ['Sluice service', sluiceVersion, serve, userAs('/v1/check', ours, '10/2s', ['--burst', '10'])],
  ['Sluice for Express', sluiceVersion, nodeServer('Sluice for Express'), addresses],
  ['… with `windowMs` alone', sluiceVersion, nodeServer('Sluice for Express, windowMs'), addresses],
  ['Sluice for Fastify', sluiceVersion, nodeServer('Sluice for Fastify'), addresses],
  ['Sluice for Hono', sluiceVersion, nodeServer('Sluice for Hono'), addresses],
]

async function freePort() {
  const probe = createServer()
  await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return port
}

async function findingsOf([name, version, begin, { path, more }]) {
  const port = await freePort()
  await begin(port)
  const args = ['load', `http://127.0.0.1:${port}${path}`, '--find-faults', '--format', 'json', ...more]
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'packages/cli/bin/sluice.js'), ...args],
    { encoding: 'utf8' },
  )
  if (stdout === '') throw new Error(`${name}: ${stderr}`)
  for (const child of children.splice(0)) stop(child)
  const { findings } = JSON.parse(stdout)
  console.log(`\n${name} ${version}`)
  for (const { fault, found, evidence } of findings)
    console.log(`  ${found === undefined ? '?' : found ? '!' : ' '} ${fault}: ${evidence}`)
  return { name, version, findings }
}

function stop({ pid }) {
  try {
    process.kill(-pid, 'SIGTERM')
  } catch {
    // It has ended by itself.
  }
}

/** What the page has of a limiter that is not installed here stays. */
function keptRow(text, name) {
  const cells = text.split('\n').find((line) => line.startsWith(`| ${name} `))
  return cells
    ?.slice(2, -2)
    .split('|')
    .map((cell) => cell.trim())
}

function tableOf(results, text) {
  const faults = results[0].findings.map(({ fault }) => fault)
  const mark = { true: '**yes**', false: 'no', undefined: '–' }
  const rows = results.map(({ name, version, findings }) => [
    name,
    version,
    ...findings.map(({ found }) => mark[String(found)]),
  ])
  if (!process.env.RATELIMIT) {
    const kept = keptRow(text, RATELIMIT)
    if (kept)
      rows.splice(
        results.findIndex(({ name }) => name === 'Sluice service'),
        0,
        kept,
      )
  }
  return [['limiter', 'version', ...faults], faults.map(() => '---').concat('---', '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

const results = []
try {
  const wanted = process.argv.slice(2)
  for (const subject of subjects)
    if (wanted.length === 0 || wanted.includes(subject[0])) results.push(await findingsOf(subject))
  const text = readFileSync(page, 'utf8')
  if (wanted.length === 0)
    writeFileSync(
      page,
      text.replace(
        /(<!-- faults: .*? -->\n).*?(<!-- \/faults -->)/s,
        (_all, begin, end) => `${begin}\n${tableOf(results, text)}\n\n${end}`,
      ),
    )
} finally {
  for (const child of children) stop(child)
  rmSync(folder, { recursive: true, force: true })
}
