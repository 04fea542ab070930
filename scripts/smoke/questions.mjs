// What each framework's sample is asked while it runs, and has to answer.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { setTimeout } from 'node:timers/promises'

/** @throws when the server of that sample does not limit as its page says; `folder` is where packages are installed */
export async function question(name, url, folder) {
  if (name === 'graphql') await askGraphql(url)
  else if (name === 'websocket') await askWebSocket(url, folder)
  else await askHttp(url)
}

/** Seconds. */
const WINDOW = 900

/** The hundred of a quarter of an hour, and one more. */
async function askHttp(url) {
  // Windows begin with the clock's quarters of an hour: all is asked within one.
  const left = WINDOW * 1_000 - (Date.now() % (WINDOW * 1_000))
  if (left < 10_000) await setTimeout(left + 100)
  const first = await fetch(url)
  await first.text()
  assert.equal(first.status, 200)
  assert.equal(first.headers.get('ratelimit-policy'), '"default";q=100;w=900')
  const [, more] = /^"default";r=99;t=(\d+)$/.exec(first.headers.get('ratelimit')) ?? []
  assert.ok(Number(more) <= WINDOW, `RateLimit: ${first.headers.get('ratelimit')}`)

  const others = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const response = await fetch(url)
      await response.text()
      return response
    }),
  )
  const refused = others.filter(({ status }) => status !== 200)
  assert.deepEqual(
    refused.map(({ status }) => status),
    [429],
  )
  const wait = Number(refused[0].headers.get('retry-after'))
  assert.ok(wait >= 1 && wait <= WINDOW, `Retry-After: ${wait}`)
}

async function askGraphql(url) {
  const ask = async (first) => {
    const body = JSON.stringify({ query: `{ users(first: ${first}) { name } }` })
    return (await fetch(url, { method: 'POST', body })).json()
  }
  assert.equal((await ask(400)).data.users.length, 400)
  assert.equal((await ask(700)).errors?.[0].extensions?.code, 'RATE_LIMITED')
}

async function askWebSocket(url, folder) {
  const WebSocket = createRequire(`${folder}/`)('ws') // its main export, in every major
  const socket = new WebSocket(url)
  await once(socket, 'open')
  const answers = []
  socket.on('message', (data) => answers.push(String(data)))
  for (let i = 0; i < 60; i++) socket.send('hello')
  const [code, reason] = await once(socket, 'close')
  assert.deepEqual([code, String(reason)], [1008, 'rate limit: retry after 1 s'])
  assert.ok(answers.length >= 20, `${answers.length} answers`)
  assert.equal(answers[0], 'you said hello')
}
