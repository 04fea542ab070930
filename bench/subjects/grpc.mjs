// Envoy's question, ShouldRateLimit, over gRPC: microseconds of the server's CPU, of 1,000 addresses, over one
// connection as Envoy has it. The rival is a server of @grpc/grpc-js that answers OK and decides nothing.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { definitions, serviceOf } from '../../packages/service/dist/grpc/definitions.js'
import { measured, served, waitsOf } from '../served.mjs'

const SERVICE = 'envoy.service.ratelimit.v3.RateLimitService'
const CALLS = 4_000
const RULES =
  'domain: edge\ndescriptors:\n  - { key: remote_address, rate_limit: { unit: hour, requests_per_unit: 1000000 } }\n'
const RIVALS = ['sluice serve', '@grpc/grpc-js']

export const scenarios = {
  '32 calls at once': { unit: 'us', candidates: RIVALS },
  '1 call at once': { unit: 'us', candidates: RIVALS },
}

export const tables = [
  { head: 'us', columns: Object.keys(scenarios) },
  ...Object.keys(scenarios).map((name) => waitsOf(name, 'calls')),
]

export async function run(scenario, candidate) {
  spawnSync('taskset', ['-pc', '0', `${process.pid}`])
  const server = await served(candidate, RULES, ['--grpc', '127.0.0.1:0'])
  const session = connect(`http://${/for Envoy at ([\d.:]+)/.exec(server.text)[1]}`)
  const { ShouldRateLimit } = serviceOf(definitions(), SERVICE)
  const messages = Array.from({ length: 1_000 }, (_, i) => {
    const entries = [{ key: 'remote_address', value: `10.0.${i >> 8}.${i & 255}` }]
    const message = ShouldRateLimit.requestSerialize({ domain: 'edge', descriptors: [{ entries }] })
    const frame = Buffer.alloc(5 + message.length)
    frame.writeUInt32BE(message.length, 1)
    message.copy(frame, 5)
    return frame
  })
  const ask = async (i) => {
    const call = session.request({
      ':method': 'POST',
      ':path': `/${SERVICE}/ShouldRateLimit`,
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    call.end(messages[i % 1_000])
    call.resume()
    const [trailers] = await once(call, 'trailers')
    if (trailers['grpc-status'] !== '0') throw new Error(`${candidate} answered ${trailers['grpc-message']}`)
  }
  try {
    return await measured(server.pid, Number.parseInt(scenario, 10), CALLS, ask)
  } finally {
    session.destroy()
    server.stop()
  }
}
