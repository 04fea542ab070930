import { mergeOffenders } from '@sluice/limiter/offenders'
import { summaryOf } from '@sluice/observe/live'
import { type Command, defineCommand } from '../command.ts'
import type { Io } from '../io.ts'
import { secretOf } from '../secrets.ts'
import { adminUrl, DEFAULT_ADDRESS } from '../top/admin-address.ts'
import { frameOf } from '../top/frame.ts'
import { type FollowedNode, followNode } from '../top/node-stream.ts'
import { onSignals } from '../until-signal.ts'
import { UsageError } from '../usage-error.ts'

/** Keys that are merged of several nodes. */
const TOP = 100
/** Where the output is no terminal. */
const PAGE = { width: 160, height: 60 }
const SCREEN = { begin: '\x1b[?1049h\x1b[?25l', repaint: '\x1b[H\x1b[J', end: '\x1b[?25h\x1b[?1049l' }

/** Shows in a terminal what services do, as the dashboard does. */
export const top: Command = defineCommand({
  name: 'top',
  summary: 'shows what running services do: requests, limits, keys that are refused most',
  operands: '[ADDRESS…]',
  options: {
    once: { type: 'boolean', help: 'prints the figures of the last minute once, and ends' },
  },
  notes: `ADDRESS is the admin address of a service, HOST:PORT or a URL; default ${DEFAULT_ADDRESS}. Several are
shown as one. Where the address asks for its token: SLUICE_ADMIN_TOKEN, or SLUICE_ADMIN_TOKEN_FILE.
Without a terminal it prints once. SIGINT (Ctrl-C) ends it.`,
  async run(operands, { once }, io) {
    const addresses = (operands.length === 0 ? [DEFAULT_ADDRESS] : operands).map(adminUrl)
    const token = await secretOf('SLUICE_ADMIN_TOKEN', io)
    const screen = once !== true && io.stdout.isTTY === true
    const leaving = new AbortController()
    const leave = (): void => leaving.abort()
    const endSignals = onSignals(io, leave)
    if (screen) io.stdout.write(SCREEN.begin)
    try {
      await follow(addresses, token, leaving, async (nodes) => {
        const lines = await linesOf(nodes, screen ? sizeOf(io) : PAGE)
        io.stdout.write(`${screen ? SCREEN.repaint : ''}${lines.join(screen ? '\r\n' : '\n')}\n`)
        if (!screen) leave()
      })
    } finally {
      if (screen) io.stdout.write(SCREEN.end)
      endSignals()
    }
    return 0
  },
})

/** Follows all, and shows them whenever the first has a new second and each has one. */
async function follow(
  addresses: readonly string[],
  token: string | undefined,
  leaving: AbortController,
  show: (nodes: readonly FollowedNode[]) => Promise<void>,
): Promise<void> {
  const nodes = new Map<string, FollowedNode>()
  const { signal } = leaving
  let shown = Promise.resolve()
  const changed = (node: FollowedNode): void => {
    nodes.set(node.address, node)
    const complete = nodes.size === addresses.length && [...nodes.values()].every(({ window }) => window.last)
    if (complete && !signal.aborted)
      shown = shown.then(() => (signal.aborted ? undefined : show([...nodes.values()])))
    shown.catch(() => leaving.abort())
  }
  const streams = addresses.map(async (address) => {
    try {
      await followNode(address, token, signal, changed)
      throw new UsageError(`${address} has ended its stream`)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  })
  try {
    await Promise.all(streams)
  } finally {
    leaving.abort()
  }
  await shown
}

async function linesOf(
  nodes: readonly FollowedNode[],
  size: { readonly width: number; readonly height: number },
): Promise<readonly string[]> {
  const lists = mergeOffenders(await Promise.all(nodes.map((node) => node.offenders())), TOP)
  const names = nodes.map(({ address }) => new URL(address).host).join(', ')
  const { version } = nodes[0]!.window.last!.rules
  const head = `sluice top   ${names}   rulebook ${version.slice(0, 12)}`
  const frame = frameOf(summaryOf(nodes.map(({ window }) => window)), lists, {
    ...size,
    height: size.height - 2,
  })
  return [head.slice(0, size.width), '', ...frame]
}

function sizeOf({ stdout }: Io): { readonly width: number; readonly height: number } {
  return { width: stdout.columns ?? PAGE.width, height: (stdout.rows ?? PAGE.height) - 1 }
}
