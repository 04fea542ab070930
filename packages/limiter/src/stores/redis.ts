import type { Clock } from '../clock.ts'
import type { Step } from '../core/decide/step.ts'
import { ConfigError, StoreError } from '../core/errors.ts'
import { Batches } from './redis/batches.ts'
import { Call } from './redis/call.ts'
import { type RedisClient, type Send, senderOf } from './redis/client.ts'
import { Laws } from './redis/laws.ts'
import { isPrefix, onceName, policyIdOf, slotOf, stateName, tagOf } from './redis/names.ts'
import { run } from './redis/run.ts'
import { StoreTime } from './redis/store-time.ts'
import type { Charge, Once, Outcome, Store } from './store.ts'

export class RedisStore implements Store<true> {
  readonly async = true as const
  readonly #send: Send
  readonly #prefix: string
  readonly #cluster: boolean
  readonly #laws = new Laws()
  readonly #ids = new WeakMap<object, {policy: string, id: string}>()
  readonly #time: StoreTime
  readonly #batches: Batches

  constructor(options: { client: RedisClient; prefix?: string; clock?: Clock }) {
    const { prefix = 'sluice', clock, client } = options
    if (!isPrefix(prefix)) throw new ConfigError('prefix')
    const { send, cluster } = senderOf(client)
    this.#send = send
    this.#cluster = cluster
    this.#prefix = prefix
    this.#time = new StoreTime(clock)
    this.#batches = new Batches(send, this.#laws, this.#time)
  }

  decide(steps: readonly Step[], peek: boolean): Promise<Outcome> {
    const names = steps.map((step) => this.#name(step))
    return this.#batches.decide(steps, names, peek, this.#cluster ? slotOf(tagOf(steps[0]!.key)) : 0)
  }

  async settle(charges: readonly Charge[], once?: Once): Promise<boolean> {
    this.#batches.flush()
    const call = new Call(this.#laws, this.#time.now())
    const refs = charges.map(({ step }) => [call.key(this.#name(step)), call.part(step, 0, false)] as const)
    if (once !== undefined) call.key(onceName(this.#prefix, once.id))
    const rest = [once === undefined ? '' : String(once.until)]
    charges.forEach(({ step, at, change }, i) => {
      const [key, part] = refs[i]!
      const { plan, phase = 0, lease = 0 } = step
      const charged = Math.floor((at - phase) / plan.unit)
      rest.push(...[key * call.parts + part, change, charged, phase, lease].map(String))
    })
    const reply = await run(this.#send, call.script('settle'), call.args(this.#time.fixed(), rest), 2)
    this.#time.told(reply[0]!)
    if (reply[1] === -2) throw new StoreError('lost')
    return reply[1] === 1
  }

  async reset(step: Pick<Step, 'plan' | 'policy' | 'key'>): Promise<void> {
    this.#batches.flush()
    const name = this.#name(step)
    await this.#send(['DEL', name], name)
  }

  async close(): Promise<void> {
    this.#batches.flush()
  }

  #name(step: Pick<Step, 'plan' | 'policy' | 'key'>): string {
    let id = this.#ids.get(step.plan)
    if (id === undefined || id.policy !== step.policy) {
      id = { policy: step.policy, id: policyIdOf(step) }
      this.#ids.set(step.plan, id)
    }
    return stateName(this.#prefix, tagOf(step.key), id.id)
  }
}
