import { connect } from 'node:tls'
import { credentials } from '@grpc/grpc-js'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bytes, type TestAuthority, testAuthority } from '../certificates.test-support.ts'
import { application, byHeaders, edge, startEnvoy } from '../rls/envoy.test-support.ts'
import type { TlsFiles } from '../tls-files.ts'
import {
  type Answered,
  type Caller,
  callerOf,
  entries,
  type GrpcBench,
  grpcBench,
} from './calls.test-support.ts'

const RULES = 'domain: d\ndescriptors: [{ key: user, rate_limit: { unit: hour, requests_per_unit: 1 } }]'
const ASKED = { domain: 'd', descriptors: [entries('user', 'ada')] }

type Pair = Pick<TlsFiles, 'cert' | 'key'>

let authority: TestAuthority
let strangers: TestAuthority
let server: Pair
const closing: (() => unknown)[] = []
beforeAll(() => {
  authority = testAuthority()
  strangers = testAuthority()
})
afterAll(() => {
  authority.remove()
  strangers.remove()
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function open(more: Partial<TlsFiles> = {}): Promise<GrpcBench> {
  server = authority.issue('first')
  const service = await grpcBench(RULES, { grpcTls: { ...server, ...more } })
  closing.push(() => service.close())
  return service
}

function caller({ address }: GrpcBench, pair?: Pair): Caller {
  const ca = bytes(authority.ca)
  const secured =
    pair === undefined
      ? credentials.createSsl(ca)
      : credentials.createSsl(ca, bytes(pair.key), bytes(pair.cert))
  const own = callerOf(address, secured)
  closing.push(own.close)
  return own
}

const answer = (own: Caller): Promise<Answered> => own.shouldRateLimit(ASKED, {}, 30_000)

/** The names of the certificate that a new connection gets. */
function nameAt({ address }: GrpcBench): Promise<string | undefined> {
  const [host, port] = address.split(':')
  return new Promise((resolve, reject) => {
    const socket = connect(
      { host, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['h2'] },
      () => {
        resolve(socket.getPeerCertificate().subject.CN as string)
        socket.destroy()
      },
    )
    socket.on('error', reject)
  })
}

describe('TLS', () => {
  test('is spoken, and nothing else', async () => {
    const service = await open()
    expect((await answer(caller(service))).overall_code).toBe('OK')
    const plain = callerOf(service.address)
    closing.push(plain.close)
    await expect(answer(plain)).rejects.toThrow()
  })

  test('mTLS: no certificate, or one of another authority, is refused; the right one is OK', async () => {
    const service = await open({ clientCa: authority.ca })
    await expect(answer(caller(service))).rejects.toThrow()
    await expect(answer(caller(service, strangers.issue('client')))).rejects.toThrow()
    expect((await answer(caller(service, authority.issue('client')))).overall_code).toBe('OK')
  })

  test('mTLS: a client without the name that is asked for is refused', async () => {
    const service = await open({ clientCa: authority.ca, clientName: 'envoy.internal' })
    await expect(answer(caller(service, authority.issue('other.internal')))).rejects.toMatchObject({
      code: 16,
    })
    expect((await answer(caller(service, authority.issue('envoy.internal')))).overall_code).toBe('OK')
  })

  test('a certificate that changes is in force for new connections; one that cannot be used is not', async () => {
    const service = await open()
    expect(await nameAt(service)).toBe('first')
    authority.replace(server, { ...server, cert: authority.ca }) // does not belong to the key
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(await nameAt(service)).toBe('first')
    authority.replace(server, authority.issue('second'))
    await expect.poll(() => nameAt(service)).toBe('second')
    expect((await answer(caller(service))).overall_code).toBe('OK')
  })

  test.each([
    ['cert', '/does/not/exist', 'TLS cannot read /does/not/exist: ENOENT'],
    ['key', import.meta.filename, /^TLS cannot use .*certificates|^TLS cannot use /],
  ])('files that cannot be used are an error at once: %s', async (field, path, message) => {
    server = authority.issue('first')
    await expect(grpcBench(RULES, { grpcTls: { ...server, [field]: path } })).rejects.toThrow(message)
  })

  test('the real Envoy shows its certificate', async () => {
    const service = await open({ clientCa: authority.ca, clientName: 'envoy' })
    const app = await application('app')
    closing.push(app.close)
    const own = authority.issue('envoy')
    const envoy = await startEnvoy(
      edge({
        domain: 'd',
        grpcPort: Number(service.address.split(':')[1]),
        applications: { app: app.port },
        filter: { timeout: '10s' },
        routes: [byHeaders('/', ['user'])],
        transport: {
          transport_socket: {
            name: 'tls',
            typed_config: {
              '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
              common_tls_context: {
                tls_certificates: [
                  { certificate_chain: { filename: own.cert }, private_key: { filename: own.key } },
                ],
                validation_context: { trusted_ca: { filename: authority.ca } },
              },
            },
          },
        },
      }),
    )
    closing.push(envoy.stop)
    const statuses = []
    for (let i = 0; i < 2; i++) statuses.push((await envoy.get('/', { user: 'ada' })).status)
    expect(statuses).toEqual([200, 429])
  })
})
