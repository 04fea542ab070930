import { Redis } from 'ioredis'
import { freePort } from '../../free-port.test-support.ts'
import { type RedisServer, startServer } from './server.test-support.ts'

/** A Redis cluster of a test's own. */
export interface RedisCluster {
  /** Masters first, in the order of their slots; then their replicas, in the same order. */
  readonly nodes: readonly ClusterNode[]
  stop(): Promise<void>
}

export interface ClusterNode {
  readonly server: RedisServer
  readonly admin: Redis
  readonly id: string
}

const SLOTS = 16_384

/** Starts a cluster of `masters`, each with `replicas`, and waits until all of them find it whole. */
export async function startCluster(masters: number, replicas = 0): Promise<RedisCluster> {
  const nodes: (ClusterNode & { readonly bus: number })[] = []
  const stop = async (): Promise<void> => {
    for (const { admin } of nodes) admin.disconnect()
    await Promise.all(nodes.map(({ server }) => server.stop()))
  }
  try {
    for (let i = 0; i < masters * (1 + replicas); i++) nodes.push(await startNode())
    const first = nodes[0]!
    for (const { server, bus } of nodes.slice(1)) {
      await first.admin.call('CLUSTER', 'MEET', '127.0.0.1', server.port, bus)
    }
    const share = SLOTS / masters
    for (const [i, { admin }] of nodes.slice(0, masters).entries()) {
      const [from, to] = [Math.ceil(i * share), Math.ceil((i + 1) * share) - 1]
      await admin.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
    }
    for (const [i, { admin }] of nodes.slice(masters).entries()) {
      const master = nodes[i % masters]!
      await until(async () => String(await admin.call('CLUSTER', 'NODES')).includes(master.id))
      await admin.call('CLUSTER', 'REPLICATE', master.id)
    }
    for (const { admin } of nodes)
      await until(async () => isWhole(String(await admin.call('CLUSTER', 'NODES')), nodes.length))
    for (const { admin } of nodes)
      await until(async () => /cluster_state:ok/.test(String(await admin.call('CLUSTER', 'INFO'))))
    for (const { admin } of nodes.slice(masters)) {
      await until(async () => /master_link_status:up/.test(await admin.info('replication')))
    }
    return { nodes, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Lets replicas stand in soon. Until then a machine that stands still for a moment is no dead node. */
export async function failOverSoon({ nodes }: RedisCluster): Promise<void> {
  for (const { admin } of nodes) await admin.config('SET', 'cluster-node-timeout', '1000')
}

/**
 * Moves a slot with all that is in it. `meanwhile` runs when the slot is being moved, when the first of its keys has
 * been, and when all of them have.
 */
export async function moveSlot(
  slot: number,
  from: ClusterNode,
  to: ClusterNode,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  await to.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id)
  await from.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id)
  await meanwhile()
  for (let moved = 0; ; moved++) {
    const [key] = (await from.admin.call('CLUSTER', 'GETKEYSINSLOT', slot, 1)) as string[]
    if (key === undefined) break
    await from.admin.call('MIGRATE', '127.0.0.1', to.server.port, key, 0, 5_000)
    if (moved === 0) await meanwhile()
  }
  await meanwhile()
  for (const { admin } of [to, from]) await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', to.id)
}

async function startNode(): Promise<ClusterNode & { readonly bus: number }> {
  let bus = 0
  const server = await startServer(async (port, dir) => {
    bus = await freePort()
    return [
      'redis-server',
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'no'],
      ...['--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-node-timeout', '15000'],
      ...['--cluster-require-full-coverage', 'no'],
      ...['--repl-diskless-sync-delay', '0'],
    ]
  })
  const admin = new Redis({ port: server.port })
  admin.on('error', () => undefined)
  return { server, admin, bus, id: String(await admin.call('CLUSTER', 'MYID')) }
}

function isWhole(nodes: string, count: number): boolean {
  const lines = nodes.trim().split('\n')
  return (
    lines.length === count &&
    lines.every((line) => line.includes(' connected') && !/fail|handshake/.test(line))
  )
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const giveUp = performance.now() + 100_000
  while (!(await isSo())) {
    if (performance.now() > giveUp) throw new Error('the cluster did not become whole within 100 s')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
