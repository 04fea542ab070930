import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FaultName } from './fault.ts'

export interface FaultyServer {
  readonly url: string
  close(): Promise<void>
}

/** A small limiter that is right, but for one fault: `limit` in any `periodMs`, for each address. */
export async function startFaulty(
  fault: FaultName | undefined,
  limit: number,
  periodMs: number,
): Promise<FaultyServer> {
  const logs = new Map<string, number[]>()
  let requests = 0
  const server = createServer((request, response) => {
    const log = logOf(logs, keyOf(request, fault, requests++))
    const now = performance.timeOrigin + performance.now()
    const isLive = (at: number): boolean =>
      fault === 'double-burst'
        ? Math.floor(at / periodMs) === Math.floor(now / periodMs)
        : at > now - periodMs
    log.splice(0, log.length, ...log.filter(isLive))
    const admitted = log.length < limit
    if (admitted || fault === 'refusals-prolong') log.push(now)
    const oldest = log.at(-limit) ?? now
    const waitMs =
      fault === 'double-burst' ? periodMs - (now % periodMs) : Math.max(0, oldest + periodMs - now)
    if (fault !== 'limit-per-instance')
      response
        .setHeader('x-ratelimit-remaining', remainingOf(fault, limit, log.length))
        .setHeader('x-ratelimit-limit', limit)
        .setHeader('x-ratelimit-reset', Math.ceil(waitMs / 1_000))
    if (!admitted) {
      response.statusCode = fault === 'status-503' ? 503 : 429
      if (fault !== 'no-retry-after') response.setHeader('retry-after', statedWait(fault, waitMs))
    }
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function logOf(logs: Map<string, number[]>, key: string): number[] {
  const log = logs.get(key) ?? []
  logs.set(key, log)
  return log
}

function keyOf({ headers, socket }: IncomingMessage, fault: FaultName | undefined, requests: number): string {
  const forged = fault === 'forged-forwarded-for' ? headers['x-forwarded-for'] : undefined
  const instance = fault === 'limit-per-instance' ? requests % 2 : 0
  return `${forged ?? socket.remoteAddress} ${instance}`
}

function remainingOf(fault: FaultName | undefined, limit: number, used: number): number {
  return fault === 'remaining-untrue' ? limit : Math.max(0, limit - used)
}

function statedWait(fault: FaultName | undefined, waitMs: number): number {
  const seconds = Math.ceil(waitMs / 1_000)
  if (fault === 'wait-too-short') return Math.max(0, seconds - 2)
  return fault === 'wait-too-long' ? seconds + 5 : seconds
}
