import { LineFeed } from '../traffic/line-feed.ts'
import { LineMaker, readerOfHead } from '../traffic/line-maker.ts'
import { MOST_SHOWN } from '../traffic/read-source.ts'
import type { DecideMessage, JobMessage, JobPlan, ParsedBlock, ParseMessage } from './messages.ts'
import { type Parting, partingOf } from './parting.ts'
import { RowColumns } from './row-columns.ts'
import type { Study } from './study.ts'
import { domainsOf, studyOf } from './study-of.ts'

/** What was made of a request that was read: its number. */
interface Numbered {
  readonly id: number
}

/** A source of which it parses blocks. */
interface OpenSource {
  readonly maker: LineMaker<Numbered>
  /** What was read and not yet answered. */
  fresh: ParsedBlock['fresh'][number][]
  /** How many different requests there were. */
  count: number
}

/** One of several that share the work: it parses blocks of lines, and decides the requests of one part of the keys. */
export class Job {
  readonly #plan: JobPlan
  readonly #study: Study<object, unknown>
  readonly #partOf: Parting
  readonly #sources = new Map<number, OpenSource>()
  /** What rules find in the requests that this job decides, by number. */
  #made: object[] = []

  constructor(plan: JobPlan) {
    this.#plan = plan
    this.#study = studyOf(plan.study, plan.compile)
    this.#partOf = (plan.parts === 1 ? undefined : partingOf(domainsOf(plan.study), plan.parts)) ?? (() => 0)
  }

  /** The answer to a message, and what of it can be given away. @throws LabError, and whatever a study throws */
  answer(message: JobMessage): { readonly result: unknown; readonly transfer: ArrayBuffer[] } {
    switch (message.kind) {
      case 'parse': {
        const result = this.#parse(message)
        return { result, transfer: [result.at.buffer, result.duration.buffer, result.ids.buffer] }
      }
      case 'decide':
        this.#decide(message)
        return { result: undefined, transfer: [] }
      case 'close':
        this.#sources.delete(message.source)
        return { result: undefined, transfer: [] }
      default:
        return { result: this.#study.result(), transfer: [] }
    }
  }

  #parse({ source, head, bytes, hasHeader }: ParseMessage): ParsedBlock {
    const open = this.#sources.get(source) ?? this.#open(source, head)
    const { maker } = open
    const first = open.count
    const { clears } = maker
    const shown: { line: number; reason: string }[] = []
    const rows = new RowColumns(bytes.length >> 6)
    let lines = 0
    let unreadable = 0
    const take = (line: Buffer | undefined, from: number, to: number): void => {
      const number = lines++
      if (number === 0 && hasHeader) return
      const made = maker.read(line, from, to)
      if (typeof made !== 'string') {
        rows.add(maker.line.at, maker.line.duration, made.id)
      } else if (made !== '') {
        unreadable++
        if (shown.length < MOST_SHOWN) shown.push({ line: number, reason: made })
      }
    }
    const feed = new LineFeed(take, () => take(undefined, 0, 0))
    feed.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
    feed.end()
    const { fresh } = open
    open.fresh = []
    // It has forgotten what it read before this block.
    const forget = maker.clears === clears ? 0 : first
    return { lines, ...rows.take(), fresh, forget, unreadable, shown }
  }

  #open(source: number, head: ParseMessage['head']): OpenSource {
    const { lines } = this.#plan
    const { reader } = readerOfHead(
      head.map((line) => line && Buffer.from(line)),
      lines,
    )
    const open: OpenSource = {
      fresh: [],
      count: 0,
      maker: new LineMaker(reader, {
        ...lines,
        make: (request, cost, recorded) => {
          const made = this.#study.match(request, cost, recorded)
          if (typeof made === 'string') return made
          open.fresh.push({ request, cost, recorded, part: this.#partOf(this.#study.steps(made)) })
          return { id: open.count++ }
        },
      }),
    }
    this.#sources.set(source, open)
    return open
  }

  #decide({ at, duration, ids, isAnew, fresh }: DecideMessage): void {
    if (isAnew) this.#made = []
    for (const { request, cost, recorded } of fresh)
      this.#made.push(this.#study.match(request, cost, recorded) as object)
    const made = this.#made
    const study = this.#study
    for (let i = 0; i < ids.length; i++) study.decide(made[ids[i]!]!, at[i]!, duration[i]!)
  }
}
