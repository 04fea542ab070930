import { expect, test } from 'vitest'
import { served } from './served.test-support.ts'

/** Modules of other packages: 245 at the time of writing; gRPC alone would be 150 more. */
const MOST = 280
/** Read YAML that is not plain, and compile schemas of routes: neither is needed to start. */
const LATER = ['yaml', 'ajv', 'fast-uri', '@fastify/ajv-compiler']
/** What only gRPC needs. */
const GRPC = /^(@grpc|@protobufjs|protobufjs|long|lodash)/

test('serve loads gRPC where it is spoken, and only there', async () => {
  const plain = await served([])
  expect([...(await plain.stop()).keys()].filter((name) => GRPC.test(name))).toEqual([])
  const spoken = await served(['--grpc', '127.0.0.1:0'])
  expect((await spoken.stop()).has('@grpc/grpc-js')).toBe(true)
})

test('serve loads few modules', async () => {
  const loaded = await (await served([])).stop()
  expect([...loaded.values()].reduce((sum, count) => sum + count, 0)).toBeLessThan(MOST)
  expect(LATER.filter((name) => loaded.has(name))).toEqual([])
})
