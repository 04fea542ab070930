import { writeFileSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import { CONNECTOR, inNamespaces, LISTENER, type Namespace } from './namespaces.test-support.ts'
import { exported } from './proxies.test-support.ts'

interface Connected {
  readonly connected: number
  readonly reset: number
  readonly ms: number
}

/** A rulebook of one network rule for port 8080. */
function ruleOf(more: string): string {
  return `domain: shop\nnetwork:\n  - { name: rule, port: 8080, ${more} }\n`
}

async function load(server: Namespace, folder: string, rulebook: string, keys?: number): Promise<void> {
  writeFileSync(
    `${folder}/rules.nft`,
    exported('nftables', rulebook, keys === undefined ? {} : { keys }).text,
  )
  await server.run('nft', '-c', '-f', `${folder}/rules.nft`)
  await server.run('nft', '-f', `${folder}/rules.nft`)
}

const connect = (client: Namespace, host: string, count: number, ms = 600, ...from: string[]) =>
  client.script<Connected>(CONNECTOR, host, 8080, count, ms, ...from)

describe('nftables', () => {
  test('acceptance 7.2, 7.5: of 20 connections at once 5 and what refills pass; another client is not harmed', () =>
    inNamespaces(2, async (server, [a, b], folder) => {
      await load(server, folder, ruleOf('key: [ip], limit: 5/second, burst: 5'))
      await server.serve(LISTENER, 8080)
      const [flood, other] = await Promise.all([connect(a!, '10.0.1.1', 20), connect(b!, '10.0.2.1', 5)])
      expect(flood.connected).toBeGreaterThanOrEqual(5)
      expect(flood.connected).toBeLessThanOrEqual(5 + Math.ceil(flood.ms / 200))
      expect(other.connected).toBe(5)
    }))

  test('acceptance 7.1: IPv6 clients of one /64 share a count, and a client of another network does not', () =>
    inNamespaces(2, async (server, [a, b], folder) => {
      await load(server, folder, ruleOf('key: [ip], limit: 5/hour, burst: 5'))
      await server.serve(LISTENER, 8080)
      for (let i = 16; i < 32; i++)
        await a!.run('ip', 'address', 'add', `fd00:1::1:${i.toString(16)}/64`, 'dev', 'c0', 'nodad')
      const shared = await connect(a!, 'fd00:1::1', 15, 600, 'fd00:1::1:1')
      expect(shared.connected).toBe(5)
      expect((await connect(b!, 'fd00:2::1', 5)).connected).toBe(5)
      expect((await connect(a!, '10.0.1.1', 5)).connected).toBe(5)
    }))

  test('acceptance 7.2: a reload keeps connections open, and counts begin again', () =>
    inNamespaces(1, async (server, [a], folder) => {
      const rulebook = ruleOf('key: [ip], limit: 3/hour, on_limit: reset')
      await load(server, folder, rulebook)
      await server.serve(
        `import { createServer } from 'node:net'
createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(8080, '::', () => console.log('ready'))`,
      )
      const said = await a!.serve(
        `import { connect } from 'node:net'
const socket = connect({ host: '10.0.1.1', port: 8080 }, () => setInterval(() => socket.write('x'), 20))
let answers = 0
socket.on('data', () => console.log(++answers))
socket.on('close', () => console.log('closed'))`,
      )
      expect(await connect(a!, '10.0.1.1', 5)).toMatchObject({ connected: 2, reset: 3 })
      await load(server, folder, rulebook)
      const before = said().length
      expect(await connect(a!, '10.0.1.1', 5)).toMatchObject({ connected: 3, reset: 2 })
      await vi.waitFor(() => expect(said().length).toBeGreaterThan(before), 60_000)
      expect(said()).not.toContain('closed')
    }))

  test('acceptance 7.3: of 1,000 packets in a second at most 111 arrive', () =>
    inNamespaces(1, async (server, [a], folder) => {
      await load(
        server,
        folder,
        ruleOf('protocol: udp, key: [ip], count: packets, limit: 100/second, burst: 10'),
      )
      const received = await server.serve(
        `import { createSocket } from 'node:dgram'
const socket = createSocket('udp4')
socket.on('message', () => process.stdout.write('x'))
socket.bind(8080, '10.0.1.1', () => process.stdout.write('ready\\n'))`,
      )
      const { sent, ms } = await a!.script<{ sent: number; ms: number }>(
        `import { createSocket } from 'node:dgram'
const socket = createSocket('udp4')
const began = performance.now()
let sent = 0
const timer = setInterval(() => {
  const due = Math.min(1000, Math.floor(performance.now() - began))
  while (sent < due) { socket.send('x', 8080, '10.0.1.1'); sent++ }
  if (sent < 1000) return
  clearInterval(timer)
  console.log(JSON.stringify({ sent, ms: performance.now() - began }))
  setTimeout(() => process.exit(), 200)
}, 1)`,
      )
      const arrived = received().length - 'ready\n'.length
      expect(sent).toBe(1_000)
      expect(arrived).toBeGreaterThan(50)
      expect(arrived).toBeLessThanOrEqual(11 + Math.ceil(ms / 10))
    }))

  test('acceptance 7.4: the 21st open connection gets a reset; one closes, and one more is let in', () =>
    inNamespaces(1, async (server, [a], folder) => {
      await load(server, folder, ruleOf('key: [ip], count: open, limit: 20, on_limit: reset'))
      await server.serve(LISTENER, 8080)
      const seen = await a!.script(
        `import { connect } from 'node:net'
const open = () => new Promise((resolve) => {
  const socket = connect({ host: '10.0.1.1', port: 8080 }, () => resolve(socket))
  socket.on('error', () => resolve(undefined))
})
const sockets = []
for (let i = 0; i < 20; i++) sockets.push(await open())
const before = [sockets.filter(Boolean).length, (await open()) !== undefined]
await new Promise((resolve) => { sockets[0].on('close', resolve); sockets[0].resetAndDestroy() })
let again
for (let i = 0; i < 50 && again === undefined; i++) {
  again = await open()
  if (again === undefined) await new Promise((resolve) => setTimeout(resolve, 100))
}
console.log(JSON.stringify([...before, again !== undefined, (await open()) !== undefined]))
process.exit()`,
      )
      expect(seen).toEqual([20, false, true, false])
    }))

  test.each([
    ['open', 60],
    ['closed', 40],
  ])('acceptance 7.6: with a full table new clients are treated as on_full: %s says', (onFull, most) =>
    inNamespaces(2, async (server, [a, b], folder) => {
      await load(server, folder, ruleOf(`key: [ip], limit: 1/hour, on_full: ${onFull}`), 40)
      await server.serve(LISTENER, 8080)
      expect((await connect(b!, '10.0.2.1', 1)).connected).toBe(1)
      for (let i = 100; i < 160; i++) await a!.run('ip', 'address', 'add', `10.0.1.${i}/24`, 'dev', 'c0')
      let connected = 0
      for (let i = 10; i < 16; i++)
        connected += (await connect(a!, '10.0.1.1', 10, 300, `10.0.1.${i}`)).connected
      if (onFull === 'open') expect(connected).toBe(most)
      else {
        // A hash table may take a few more than its size.
        expect(connected).toBeGreaterThanOrEqual(30)
        expect(connected).toBeLessThanOrEqual(most)
      }
      expect((await connect(b!, '10.0.2.1', 1)).connected).toBe(0) // it is in the table, and had its one
    }),
  )

  test('exempt clients, and all together', () =>
    inNamespaces(2, async (server, [a, b], folder) => {
      await load(server, folder, ruleOf('key: [], limit: 3/hour, exempt: [10.0.2.0/24, "fd00:2::/64"]'))
      await server.serve(LISTENER, 8080)
      expect((await connect(a!, '10.0.1.1', 6)).connected).toBe(3)
      expect((await connect(b!, '10.0.2.1', 6)).connected).toBe(6)
      expect((await connect(b!, 'fd00:2::1', 6)).connected).toBe(6)
    }))
})

describe('iptables', () => {
  test('acceptance 7.1: the chain loads for both versions, and limits', () =>
    inNamespaces(1, async (server, [a], folder) => {
      const rulebook = `domain: shop
network:
  - { name: "a \\"name\\" \\\\", port: [8080, 9000-9010], key: [ip], limit: 3/hour, exempt: [192.0.2.0/24, "2001:db8::/32"], on_full: closed }
  - { name: open, port: 8081, key: [ip/24/48], count: open, limit: 20, on_limit: reset }
  - { name: dns, protocol: udp, port: 53, key: [], count: packets, limit: 100/second, burst: 10 }
`
      writeFileSync(`${folder}/rules`, exported('nftables', rulebook, { format: 'iptables' }).text)
      for (const program of ['iptables', 'ip6tables']) {
        await server.run(`${program}-restore`, '--noflush', '--test', `${folder}/rules`)
        await server.run(`${program}-restore`, '--noflush', `${folder}/rules`)
        await server.run(program, '-I', 'INPUT', '-j', 'SLUICE')
      }
      await server.serve(LISTENER, 8080)
      expect((await connect(a!, '10.0.1.1', 6)).connected).toBe(3)
      expect((await connect(a!, 'fd00:1::1', 6)).connected).toBe(3)
    }))
})
