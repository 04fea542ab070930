import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compile } from '@sluice/limiter/rules'
import { loadText } from '@sluice/rulebook'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { ServeSettings } from '../packages/cli/src/serve/option-row.ts'
import { SERVE_OPTIONS } from '../packages/cli/src/serve/options.ts'
import { readSettings } from '../packages/cli/src/serve/settings.ts'
import { strayVariables } from '../packages/cli/src/serve/sources.ts'
import { fakeIo } from '../packages/cli/src/testing.ts'
import { bench } from '../packages/service/src/testing.ts'
import { contextOf, environmentOf, lastOf, stagesOf, wordsOf } from './dockerfile.ts'
import { ROOT } from './page.ts'

// biome-ignore lint/suspicious/noExplicitAny: manifests have shapes of others
type Manifest = any

const textOf = (path: string): string => readFileSync(join(ROOT, 'deploy', path), 'utf8')

function manifestsOf(path: string): Manifest[] {
  return parseAllDocuments(textOf(path)).map((document) => {
    expect([...document.errors, ...document.warnings]).toEqual([])
    return document.toJS()
  })
}

/** The settings that these variables are, without those that name files. All must be settings. */
async function settingsOf(env: Record<string, string>): Promise<ServeSettings> {
  const known = Object.entries(SERVE_OPTIONS).flatMap(([name, { secret }]) => {
    const variable = `SLUICE_${name.replaceAll('-', '_').toUpperCase()}`
    return secret === undefined ? [variable] : [variable, `${variable}_FILE`]
  })
  expect(Object.keys(env).filter((name) => name.startsWith('SLUICE_') && !known.includes(name))).toEqual([])
  expect(strayVariables(env, SERVE_OPTIONS)).toEqual([])
  const values = Object.fromEntries(Object.entries(env).filter(([name]) => !name.endsWith('_FILE')))
  return (await readSettings(SERVE_OPTIONS, [], {}, fakeIo('', values).io)).settings
}

const portOf = (address: string | undefined): number => Number(address?.split(':').at(-1))

/** `15s` and 15, as seconds. */
const seconds = (text: string | number): number => Number(String(text).replace(/s$/, ''))

const { version } = JSON.parse(readFileSync(join(ROOT, 'packages/cli/package.json'), 'utf8')) as {
  version: string
}
const image = stagesOf(textOf('Dockerfile')).at(-1)!
const IMAGE = `sluice:${version}`

/** Whether the service has these paths at its admin address. */
async function expectPaths(paths: readonly string[]): Promise<void> {
  const service = await bench('domain: d\nlimits: [{ name: n, key: [], limit: 1/day }]\n')
  for (const url of paths) {
    const answer = await service.admin.inject({ url, headers: { host: 'localhost' } })
    expect([url, answer.statusCode]).toEqual([url, 200])
  }
  await service.close()
}

describe('the image', () => {
  test('is made from files that its stages have, without history, secrets and builds', () => {
    const files = contextOf(ROOT)
    expect(files.filter((file) => /(^|\/)(\.git|node_modules|dist|build|\.env)(\/|$)/.test(file))).toEqual([])
    expect(files).toEqual(
      expect.arrayContaining(['package-lock.json', 'deploy/package.json', 'scripts/bundle.mjs']),
    )
    for (const { instructions } of stagesOf(textOf('Dockerfile'))) {
      for (const { name, rest } of instructions) {
        if (name !== 'COPY' || rest.startsWith('--from=') || rest === '. .') continue
        expect(files).toContain(rest.split(' ')[0])
      }
    }
  })

  test('runs as a user with a number, and is asked for its health where it listens', async () => {
    expect(lastOf(image, 'USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    const settings = await settingsOf(environmentOf(image))
    expect(portOf(settings.http)).toBe(Number(lastOf(image, 'EXPOSE')))
    const { host, pathname } = new URL(/http:\/\/[^']+/.exec(lastOf(image, 'HEALTHCHECK')!)![0])
    expect(settings.admin).toBe(host)
    await expectPaths([pathname])
    expect(wordsOf(lastOf(image, 'CMD'))).toEqual(['serve'])
  })

  test('has a version of Node that the packages support', () => {
    const major = Number(/^node:(\d+)-slim$/.exec(image.base)![1])
    expect(major).toBeGreaterThanOrEqual(22)
    expect(new Set(stagesOf(textOf('Dockerfile')).map(({ base }) => base)).size).toBe(1)
  })
})

describe('compose.yaml', () => {
  const [compose] = manifestsOf('compose.yaml')
  const { sluice, redis } = compose.services

  test('names files that exist, the image, and the ports where the service listens', async () => {
    const at = (path: string): string => join(ROOT, 'deploy', path)
    expect(existsSync(join(at(sluice.build.context), sluice.build.dockerfile))).toBe(true)
    expect(sluice.image).toBe(IMAGE)
    const settings = await settingsOf({ ...environmentOf(image), ...sluice.environment })
    const inside = (sluice.ports as string[]).map((port) => portOf(port))
    expect(inside).toEqual([portOf(settings.http), portOf(settings.admin)])
    expect(sluice.ports[1]).toMatch(/^127\.0\.0\.1:/)
    const [rules, folder, mode] = (sluice.volumes[0] as string).split(':')
    expect(settings.rules).toEqual([folder])
    expect(readdirSync(at(rules!)).length).toBeGreaterThan(0)
    expect(mode).toBe('ro')
    expect(seconds(sluice.stop_grace_period)).toBeGreaterThan(settings.drainMs! / 1_000)
  })

  test('has the Redis that the service is to use, and the secrets that it reads', () => {
    const { hostname, port } = new URL(sluice.environment.SLUICE_STORE)
    expect(Object.keys(compose.services)).toContain(hostname)
    expect(port).toBe('6379')
    expect(sluice.depends_on).toEqual({ redis: { condition: 'service_healthy' } })
    expect(redis.command).toEqual(expect.arrayContaining(['--maxmemory-policy', 'noeviction']))
    expect(Object.keys(compose.secrets)).toEqual(sluice.secrets)
    expect(sluice.environment.SLUICE_SECRET_FILE).toBe(`/run/secrets/${sluice.secrets[0]}`)
    for (const volume of redis.volumes as string[]) {
      expect(Object.keys(compose.volumes)).toContain(volume.split(':')[0])
    }
  })
})

describe('the manifests for Kubernetes', () => {
  const all = readdirSync(join(ROOT, 'deploy/kubernetes')).flatMap((file) =>
    manifestsOf(`kubernetes/${file}`),
  )
  const of = (kind: string, name = 'sluice'): Manifest =>
    all.find((manifest) => manifest.kind === kind && manifest.metadata.name === name)
  const { replicas, selector, template } = of('Deployment').spec
  const pod = template.spec
  const [container] = pod.containers
  const settings = settingsOf(of('ConfigMap', 'sluice-settings').data)
  const portNamed = (name: string): number =>
    container.ports.find((port: Manifest) => port.name === name).containerPort

  test('choose the same pods', () => {
    expect(template.metadata.labels).toEqual(selector.matchLabels)
    expect(of('Service').spec.selector).toEqual(selector.matchLabels)
    expect(of('PodDisruptionBudget').spec.selector).toEqual(selector)
  })

  test('have the ports and paths that the service has', async () => {
    const { http, admin } = await settings
    expect([portNamed('http'), portNamed('admin')]).toEqual([portOf(http), portOf(admin)])
    expect(of('Service').spec.ports.map((port: Manifest) => port.targetPort)).toEqual(['http'])
    const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'].map((name) => container[name].httpGet)
    expect(probes.map(({ port }) => port)).toEqual(['admin', 'admin', 'admin'])
    expect(container.livenessProbe.httpGet.path).toBe('/healthz') // a Redis that is down restarts no pod
    await expectPaths(probes.map(({ path }) => path))
  })

  test('mount what the settings name', async () => {
    const { data } = of('ConfigMap', container.envFrom[0].configMapRef.name)
    const volumes = new Map(pod.volumes.map((volume: Manifest) => [volume.name, volume]))
    const mounts = container.volumeMounts as { name: string; mountPath: string; readOnly: boolean }[]
    expect(mounts.map(({ name }) => name)).toEqual([...volumes.keys()])
    expect(mounts.every(({ readOnly }) => readOnly)).toBe(true)
    const [rulebook, secrets] = mounts
    expect((await settings).rules).toEqual([rulebook!.mountPath])
    const files = Object.entries(data as Record<string, string>).filter(([name]) => name.endsWith('_FILE'))
    expect(files.map(([, path]) => dirname(path))).toEqual(files.map(() => secrets!.mountPath))
    expect(of('ConfigMap', (volumes.get('rulebook') as Manifest).configMap.name)).toBeDefined()
  })

  test('have a rulebook without mistakes', () => {
    const rulebooks = Object.values(of('ConfigMap', 'sluice-rulebook').data as Record<string, string>)
    for (const text of rulebooks) compile(loadText(text))
    expect(rulebooks.length).toBeGreaterThan(0)
  })

  test('give the service the time that it takes to stop, the user of the image, and few rights', async () => {
    const { drainMs, fallback } = await settings
    const pause = container.lifecycle.preStop.sleep.seconds
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(pause + drainMs! / 1_000)
    expect(fallback!.localShare).toBe(1 / replicas)
    const { runAsUser, runAsGroup, runAsNonRoot } = pod.securityContext
    expect(`${runAsUser}:${runAsGroup}`).toBe(lastOf(image, 'USER'))
    expect(runAsNonRoot).toBe(true)
    expect(pod.enableServiceLinks).toBe(false)
    expect(container.image).toBe(IMAGE)
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })
})

test('the settings file of the systemd unit has settings', async () => {
  const path = join(ROOT, 'deploy/systemd/sluice.yaml')
  const { settings } = await readSettings(SERVE_OPTIONS, [], { config: path }, fakeIo().io)
  expect(settings.rules).toEqual([join(dirname(path), 'rulebook')])
  expect(seconds(/^TimeoutStopSec=(.*)$/m.exec(textOf('systemd/sluice.service'))![1]!)).toBeGreaterThan(
    settings.drainMs! / 1_000,
  )
  const loaded = [...textOf('systemd/secrets.conf').matchAll(/^LoadCredential=(\w+):/gm)].map(
    ([, name]) => name,
  )
  const named = [...textOf('systemd/secrets.conf').matchAll(/^Environment=(SLUICE_\w+)=%d\/(\w+)$/gm)]
  expect(named.map(([, , name]) => name)).toEqual(loaded)
  await settingsOf(Object.fromEntries(named.map(([, variable]) => [variable!, 'x'])))
})
