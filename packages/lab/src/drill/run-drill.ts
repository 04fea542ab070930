import { createSender, type LoadSender } from '../load/http-sender.ts'
import type { PassedRule, RuleCase } from '../load/rules/rule-case.ts'
import { drillNodes, type NodeEvent, type RuleUnderEvent } from './node-drill.ts'
import { freeLoopbackPort, type NodeProcess, startNode } from './node-process.ts'
import { startRelay } from './relay.ts'
import { MOST_FILLED, RuleWatch } from './rule-watch.ts'
import { drillStore, type RuleUnderFailure, untilExact } from './store-drill.ts'
import type { StoreFailure } from './store-failures.ts'

const AHEAD_MS = 3_600_000

export interface DrillOptions {
  readonly store: { readonly host: string; readonly port: number }
  /** Of the program under test, with the relay and the port at which it is to listen. */
  readonly env: (relayPort: number, port: number) => Readonly<Record<string, string | undefined>>
  readonly command: readonly string[]
  /** Where a program listens that chooses its own port; then there is one node. */
  readonly port?: number | undefined
  readonly nodes: 1 | 2
  /** Answers are those of `POST /v1/check`. */
  readonly isCheck: boolean
  readonly cases: readonly RuleCase[]
  readonly failures: readonly StoreFailure[]
  /** How long each failure lasts. */
  readonly failMs: number
  readonly freshKey: () => string
  readonly signal: AbortSignal
  /** What is done next, for people who wait. */
  readonly progress?: (text: string) => void
}

export interface DrillReport {
  readonly failures: readonly {
    readonly failure: string
    readonly means: string
    readonly rules: readonly RuleUnderFailure[]
  }[]
  readonly events: readonly {
    readonly event: string
    readonly means: string
    readonly rules: readonly RuleUnderEvent[]
  }[]
  /** Rules that cannot be looked at alone. */
  readonly passed: readonly PassedRule[]
}

/**
 * Runs a program behind a relay to its store, and compares what its rules do while the store fails with what they state.
 * @throws Error where the program does not start, or is not exact while nothing fails
 * @example
 * const { failures } = await runDrill({ store, command, env, cases, failures: STORE_FAILURES, ...more })
 */
export async function runDrill(options: DrillOptions): Promise<DrillReport> {
  const { cases, signal, progress = () => undefined } = options
  const relay = await startRelay(options.store)
  const nodes: NodeProcess[] = []
  const senders: LoadSender[] = []
  const begin = async (port: number, aheadMs?: number): Promise<NodeProcess> =>
    startNode({ command: options.command, port, env: options.env(relay.port, port), aheadMs })
  try {
    for (let i = 0; i < options.nodes; i++) {
      const port = options.port ?? (await freeLoopbackPort())
      nodes.push(await begin(port))
      senders.push(
        createSender(`http://127.0.0.1:${port}`, {
          isCheck: options.isCheck,
          connections: 200,
          timeoutMs: 5_000,
        }),
      )
    }
    const isAlone = ({ isKeyed, atOnce }: RuleCase): boolean => isKeyed || atOnce > MOST_FILLED
    const watches = cases.filter(isAlone).map((each) => new RuleWatch(each, senders, options.freshKey))
    await startExact(watches, signal)
    if (relay.accepted === 0) throw new Error('the command does not use the store at SLUICE_STORE')
    const failures: DrillReport['failures'][number][] = []
    for (const failure of options.failures) {
      if (signal.aborted) break
      progress(`${failure.name}: ${failure.means}`)
      const rules = await drillStore(failure, relay, watches, options)
      if (signal.aborted) break // what was not seen to its end says nothing
      failures.push({ failure: failure.name, means: failure.means, rules })
    }
    const events: DrillReport['events'][number][] = []
    for (const event of nodes.length === 2 ? nodeEvents(nodes, begin) : []) {
      if (signal.aborted) break
      progress(`${event.name}: ${event.means}`)
      const rules = await drillNodes(event, watches, signal)
      events.push({ event: event.name, means: event.means, rules })
    }
    const passed = cases
      .filter((each) => !isAlone(each))
      .map(({ name }) => ({ name, reason: 'all requests share its counter' }))
    return { failures, events, passed }
  } finally {
    await Promise.all(senders.map((sender) => sender.stop()))
    await Promise.all(nodes.map((node) => node.stop()))
    await relay.close()
  }
}

async function startExact(watches: readonly RuleWatch[], signal: AbortSignal): Promise<void> {
  for (const watch of watches)
    if ((await untilExact(watch, signal)) === undefined && !signal.aborted)
      throw new Error(`${watch.rule.name} does not keep its limit, although nothing has failed yet`)
}

function nodeEvents(
  nodes: NodeProcess[],
  begin: (port: number, aheadMs?: number) => Promise<NodeProcess>,
): readonly NodeEvent[] {
  const restartSecond = async (aheadMs?: number): Promise<void> => {
    await nodes[1]!.stop()
    nodes[1] = await begin(nodes[1]!.port, aheadMs)
  }
  return [
    {
      name: 'kill',
      means: 'one of two nodes is killed',
      act: () => nodes[1]!.kill(),
      loses: true,
      mend: restartSecond,
    },
    {
      name: 'clocks',
      means: 'the clock of one node is an hour ahead',
      prepare: () => restartSecond(AHEAD_MS),
      act: () => undefined,
      mend: restartSecond,
    },
    {
      name: 'reload',
      means: 'both nodes load their rules again (SIGHUP)',
      act: () => {
        for (const node of nodes) node.signal('SIGHUP')
      },
    },
  ]
}
