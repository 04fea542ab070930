// Clients that are refused, and repeat their calls: how early, how close together, how often. `npm run retries`
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { retrying } from '@sluice/client'
import { startMock } from '@sluice/client/testing'
import axios from 'axios'
import axiosRetry from 'axios-retry'
import Bottleneck from 'bottleneck'
import pRetry from 'p-retry'
import { Agent, RetryAgent, request } from 'undici'

const CLIENTS = 50
const CALLS = 20
const WAIT_MS = 10_000

/** The limited API, in a thread of its own. */
async function serve() {
  const mock = await startMock({
    policies: { requests: { algorithm: 'fixed-window', limit: 1_000_000, period: '1m' } },
  })
  parentPort.on('message', ({ refuseMs, bare }) => {
    if (refuseMs !== undefined) {
      mock.reset()
      mock.setFaults({ bare })
      mock.refuseAll(refuseMs)
    }
    parentPort.postMessage({ url: mock.url, count: mock.count, arrivals: mock.arrivals })
  })
}

class HttpError extends Error {}

/**
 * By name: makes one client, as its documentation shows it, with so many retries of a call. A client makes a call, and
 * throws where it fails in the end.
 */
const clients = {
  '@sluice/client': (retries) => {
    const own = retrying(fetch, { tries: retries + 1 })
    return async (url, headers) => checked(await own(url, { headers }))
  },
  'p-retry': (retries) => (url, headers) =>
    pRetry(async () => checked(await fetch(url, { headers })), { retries }),
  'axios-retry': (retries) => {
    const own = axios.create()
    axiosRetry(own, {
      retries,
      retryDelay: axiosRetry.exponentialDelay,
      retryCondition: (error) =>
        axiosRetry.isNetworkOrIdempotentRequestError(error) || error.response?.status === 429,
    })
    return (url, headers) => own.get(url, { headers })
  },
  'undici RetryAgent': (retries) => {
    const dispatcher = new RetryAgent(new Agent(), { maxRetries: retries })
    return async (url, headers) => {
      const { statusCode, body } = await request(url, { dispatcher, headers })
      await body.dump()
      if (statusCode !== 200) throw new HttpError(statusCode)
    }
  },
  bottleneck: (retries) => {
    const own = new Bottleneck()
    own.on('failed', (_, { retryCount }) => (retryCount < retries ? 1_000 : undefined))
    return (url, headers) => own.schedule(async () => checked(await fetch(url, { headers })))
  },
}

async function checked(response) {
  await response.arrayBuffer()
  if (!response.ok) throw new HttpError(response.status)
}

async function ask(server, message = {}) {
  const answer = new Promise((resolve) => server.once('message', resolve))
  server.postMessage(message)
  return answer
}

/** All clients are refused at one instant, each call may be repeated ten times. */
async function herd(server, make, refuseMs = WAIT_MS) {
  const { url } = await ask(server, { refuseMs })
  let served = 0
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const call = make(10)
      for (let i = 0; i < CALLS; i++) {
        await call(url, { 'x-caller': `${client}` }).then(
          () => served++,
          () => undefined,
        )
      }
    }),
  )
  const { count, arrivals } = await ask(server)
  const firsts = new Map()
  for (const { caller, atMs, admitted } of arrivals)
    if (admitted && !firsts.has(caller)) firsts.set(caller, atMs)
  const from = Math.min(...firsts.values())
  const bins = new Map()
  for (const atMs of firsts.values()) {
    const bin = Math.floor((atMs - from) / 100)
    bins.set(bin, (bins.get(bin) ?? 0) + 1)
  }
  return {
    'calls served': `${served} of ${CLIENTS * CALLS}`,
    'calls received': count.received,
    'before Retry-After': count.early,
    'first calls served in one 100 ms, of 50': Math.max(...bins.values()),
  }
}

/** Everything fails, without a hint: 1,000 calls of one client, each of which may be repeated twice. */
async function failure(server, make) {
  const { url } = await ask(server, { refuseMs: 600_000, bare: 1 })
  const call = make(2)
  await Promise.all(
    Array.from({ length: 1_000 }, async (_, i) => {
      await sleep(i * 5)
      await call(url, { 'x-caller': `${i}` }).catch(() => undefined)
    }),
  )
  return { 'calls received for 1,000': (await ask(server)).count.received }
}

function print(title, rows) {
  console.log(`\n${title} (Node ${process.versions.node})`)
  console.table(rows)
}

if (isMainThread) {
  const server = new Worker(new URL(import.meta.url))
  for (const make of Object.values(clients)) await herd(server, make, 0) // all are compiled, and have their connections
  for (const [title, scenario] of [
    [`${CLIENTS} clients, ${CALLS} calls each, all refused at once for ${WAIT_MS / 1_000} s`, herd],
    ['One client, a server that refuses all', failure],
  ]) {
    const rows = {}
    for (const [name, make] of Object.entries(clients)) rows[name] = await scenario(server, make)
    print(title, rows)
  }
  await server.terminate()
  process.exit() // connections that wait for more
} else {
  await serve()
}
