import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadFileDescriptorSetFromBuffer, loadSync } from '@grpc/proto-loader'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createService } from '../service.ts'
import { rulesFolder } from '../testing.ts'
import { callerOf, entries, type GrpcBench, grpcBench } from './calls.test-support.ts'
import { definitions, serviceOf } from './definitions.ts'
import { DESCRIPTOR_SET } from './descriptor-set.ts'

const PROTO = join(import.meta.dirname, '../../proto')
const RLS = 'envoy.service.ratelimit.v3.RateLimitService'
const RULES = 'domain: d\ndescriptors: [{ key: user, rate_limit: { unit: hour, requests_per_unit: 1 } }]'

let service: GrpcBench
beforeAll(async () => {
  service = await grpcBench(RULES)
})
afterAll(() => service.close())

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Reply = any

/** Asks over one stream, as clients do. */
function reflect(version: string, ...requests: object[]): Promise<Reply[]> {
  const { path, requestSerialize, responseDeserialize } = serviceOf(
    definitions(),
    `grpc.reflection.${version}.ServerReflection`,
  ).ServerReflectionInfo!
  const { client, close } = callerOf(service.address)
  const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize)
  const replies: Reply[] = []
  return new Promise((resolve, reject) => {
    stream.on('data', (reply) => replies.push(reply))
    stream.on('error', reject)
    stream.on('end', () => {
      close()
      resolve(replies)
    })
    for (const request of requests) stream.write(request)
    stream.end()
  })
}

/** A FileDescriptorSet of the files, each of which is its field 1. */
function setOf(files: readonly Buffer[]): Buffer {
  const size = (length: number): number[] =>
    length < 128 ? [length] : [(length % 128) + 128, Math.floor(length / 128)]
  return Buffer.concat(files.flatMap((file) => [Buffer.from([10, ...size(file.length)]), file]))
}

describe.each(['v1', 'v1alpha'])('reflection %s', (version) => {
  test('lists the services, and knows the file of each', async () => {
    const [reply] = await reflect(version, { list_services: '' })
    const names: string[] = reply.list_services_response.service.map(({ name }: { name: string }) => name)
    expect(names).toEqual(
      expect.arrayContaining([RLS, 'grpc.health.v1.Health', `grpc.reflection.${version}.ServerReflection`]),
    )
    const found = await reflect(version, ...names.map((name) => ({ file_containing_symbol: name })))
    expect(found.filter(({ error_response }) => error_response)).toEqual([])
  })

  test.each([
    RLS,
    `${RLS}.ShouldRateLimit`,
    'envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus',
    'google.protobuf.UInt64Value',
  ])(
    'answers for %s with the file and all that it imports: a client can call with nothing else',
    async (symbol) => {
      const [reply] = await reflect(version, { file_containing_symbol: symbol })
      const files: Buffer[] = reply.file_descriptor_response.file_descriptor_proto
      const loaded = loadFileDescriptorSetFromBuffer(setOf(files))
      expect(Object.keys(loaded)).toContain(symbol.startsWith('google.') ? symbol : RLS)
    },
  )

  test('finds files by name; nothing else is there', async () => {
    const [file, ...others] = await reflect(
      version,
      { file_by_filename: 'google/protobuf/wrappers.proto' },
      { file_by_filename: '../secret.proto' },
      { file_containing_symbol: 'no.such.Thing' },
      { file_containing_symbol: '' },
      { file_containing_extension: { containing_type: RLS, extension_number: 1 } },
    )
    expect(file.file_descriptor_response.file_descriptor_proto).toHaveLength(1)
    for (const other of others) expect(other.error_response.error_code).toBe(5)
  })
})

test('the descriptors are those of proto/: `npm run descriptors -w packages/service` writes them', () => {
  const files = readdirSync(PROTO, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.proto'))
  const written = loadSync(files, { keepCase: true, includeDirs: [PROTO] })
  const held = loadFileDescriptorSetFromBuffer(Buffer.from(DESCRIPTOR_SET, 'base64'), { keepCase: true })
  const shapes = (all: typeof written): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(all).flatMap(([name, definition]) => {
        if (name.startsWith('google.') || !('type' in definition)) return []
        // biome-ignore lint/suspicious/noExplicitAny: the library's own type says nothing
        const { field = [], value = [] } = definition.type as any
        const own = [...field, ...value].map((each) => `${each.name} = ${each.number}`)
        return [[name, own.sort()]]
      }),
    )
  expect(shapes(held)).toEqual(shapes(written))
  expect(Object.keys(shapes(held)).length).toBeGreaterThan(20)
})

test('a socket of the file system: one left behind is replaced, one in use is not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-socket-'))
  const rules = await rulesFolder({ 'rules.yaml': RULES })
  const path = join(folder, 'grpc.sock')
  const make = (): ReturnType<typeof createService> =>
    createService({
      rules: [rules.path],
      watch: false,
      grpc: `unix:${path}`,
      http: '127.0.0.1:0',
      admin: '127.0.0.1:0',
      drainMs: 0,
      log: { level: 'silent' },
    })
  const one = make()
  expect((await one.start()).grpc).toBe(`unix:${path}`)
  const { shouldRateLimit, close } = callerOf(`unix:${path}`)
  expect((await shouldRateLimit({ domain: 'd', descriptors: [entries('user', 'ada')] })).overall_code).toBe(
    'OK',
  )
  await expect(make().start()).rejects.toThrow()
  close()
  await one.stop()
  expect(existsSync(path)).toBe(false)
  rmSync(folder, { recursive: true, force: true })
  await rules.remove()
})
