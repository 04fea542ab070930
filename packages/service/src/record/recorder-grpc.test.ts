import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { entries, grpcBench } from '../grpc/calls.test-support.ts'

const RULES = `
domain: d
limits:
  - { name: login, key: [ip], limit: 2/minute }
descriptors:
  - { key: user, rate_limit: { name: per-user, unit: minute, requests_per_unit: 5 } }
`

test('calls of gRPC are recorded: rate limits with their descriptors, authorization with its request', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-recorder-'))
  const file = join(folder, 'record')
  const service = await grpcBench(RULES, { record: { file, plain: ['ip', 'user'] } })
  try {
    await service.shouldRateLimit({ domain: 'd', descriptors: [entries('user', 'ada')], hits_addend: 6 })
    await service.shouldRateLimit({
      domain: 'unknown',
      descriptors: [entries('user', 'ada', 'city', 'Graz')],
    })
    // What is given back is no question.
    await service.shouldRateLimit({
      domain: 'd',
      descriptors: [{ ...entries('user', 'ada'), hits_addend: { value: 1 }, is_negative_hits: true }],
    })
    const source = { address: { socket_address: { address: '192.0.2.1', port_value: 4711 } } }
    const http = {
      method: 'GET',
      path: '/a?secret=1',
      host: 'h',
      headers: [{ key: 'cookie', value: 'secret' }],
    }
    const attributes = { source, request: { http } }
    await service.call('envoy.service.auth.v3.Authorization', 'Check', { attributes })
    await service.recorder!.end()
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    const city = expect.stringMatching(/^~[\da-f]{32}$/)
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        api: 'rls',
        domain: 'd',
        asked: { descriptors: [entries('user', 'ada')], cost: 6 },
        allowed: false,
        policy: 'per-user',
        remaining: 5,
      },
      {
        api: 'rls',
        domain: 'unknown',
        asked: {
          descriptors: [
            {
              entries: [
                { key: 'user', value: 'ada' },
                { key: 'city', value: city },
              ],
            },
          ],
        },
        allowed: true,
        policy: '',
      },
      { api: 'auth', asked: { request: { method: 'GET', path: '/a', ip: '192.0.2.1' } }, policy: 'login' },
    ])
    expect(lines.join()).not.toContain('secret')
  } finally {
    await service.close()
    rmSync(folder, { recursive: true })
  }
})
