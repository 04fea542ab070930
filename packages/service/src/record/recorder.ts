import { ConfigError } from '@sluice/limiter/errors'
import type { Question, Reply } from '@sluice/limiter/pipeline'
import type { Domain } from '@sluice/limiter/rules'
import { keptCounter } from '@sluice/observe/parts'
import type { Registry } from 'prom-client'
import type { Log } from '../app.ts'
import type { DescriptorQuestion, DescriptorReply } from '../operations/descriptors.ts'
import type { Operations } from '../operations/operations.ts'
import { Pseudonyms } from './pseudonyms.ts'
import { type AnsweredQuestion, recordLines } from './record-line.ts'
import type { RecordOptions } from './record-options.ts'
import { RotatingFile } from './rotating-file.ts'

/** Characters of a line: readers take no longer ones. */
const MOST_LINE = 60_000
/** Milliseconds between two lines of the log about lines that are dropped. */
const LOG_EVERY = 60_000

export interface RecorderParts {
  readonly options: RecordOptions
  /** Keys the hashes. Default: one of this process. */
  readonly secret?: string | undefined
  readonly log: Log
  readonly registry: Registry
  /** The rules in force. */
  readonly domainOf: (name: string) => Domain | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

type DecideDescriptors = (question: DescriptorQuestion) => Promise<DescriptorReply>

/** Writes what is asked, and what is answered, to a file; decisions do not wait for it. */
export class Recorder {
  readonly #file: RotatingFile
  readonly #line: (answered: AnsweredQuestion) => string | undefined
  readonly #parts: RecorderParts
  #dropped = 0
  #unsaid = 0
  #reason = ''
  #saidAt = Number.NEGATIVE_INFINITY

  constructor(parts: RecorderParts) {
    const { options, secret, registry, domainOf, now } = parts
    const { file, megabytes = 100, files = 5, plain = [] } = options
    this.#parts = parts
    this.#line = recordLines({ pseudonyms: new Pseudonyms(secret), plain: new Set(plain), domainOf, now })
    this.#file = new RotatingFile({
      file,
      maxBytes: megabytes * 1_000_000,
      maxFiles: files,
      onDrop: (lines, reason) => this.#drop(lines, reason),
    })
    keptCounter([registry], {
      name: 'sluice_record_lines_total',
      help: 'Lines of the record, written to its file, or dropped because the disk is full or too slow',
      labelNames: ['outcome'],
      rows: () => [
        [{ outcome: 'written' }, this.#file.written],
        [{ outcome: 'dropped' }, this.#dropped],
      ],
    })
  }

  /** @throws ConfigError where the file cannot be written to */
  async open(): Promise<void> {
    try {
      await this.#file.open()
    } catch (error) {
      throw new ConfigError(`record.file: ${(error as Error).message}`, { path: ['record', 'file'] })
    }
  }

  /** Operations that record what they decide. */
  operations(operations: Operations): Operations {
    const { check, checkEach, checkWithin, peek, reserve } = operations
    return {
      ...operations,
      check: this.#noted('http', false, check),
      checkEach: async (questions, looks) => {
        const answers = await checkEach(questions, looks)
        for (const [i, answered] of answers.entries()) {
          if ('decision' in answered)
            this.#note({ ...questions[i]!, api: 'http', peek: looks, decision: answered.decision })
        }
        return answers
      },
      checkWithin: this.#noted('auth', false, checkWithin),
      peek: this.#noted('http', true, peek),
      reserve: this.#noted('http', false, reserve),
    }
  }

  /** The same for requests of descriptors. */
  descriptors(decide: DecideDescriptors): DecideDescriptors {
    return async (question) => {
      const reply = await decide(question)
      const { domain, descriptors, cost } = question
      this.#note({ api: 'rls', domain, descriptors, cost, peek: false, decision: reply.decision })
      return reply
    }
  }

  /** Writes what waits. */
  async end(): Promise<void> {
    await this.#file.end()
    this.#saidAt = Number.NEGATIVE_INFINITY
    if (this.#unsaid > 0) this.#say()
  }

  #noted<More extends unknown[], Given extends Pick<Reply, 'decision'>>(
    api: AnsweredQuestion['api'],
    peek: boolean,
    ask: (question: Question, ...more: More) => Promise<Given>,
  ): (question: Question, ...more: More) => Promise<Given> {
    return async (question, ...more) => {
      const reply = await ask(question, ...more)
      this.#note({ ...question, api, peek, decision: reply.decision })
      return reply
    }
  }

  #note(answered: AnsweredQuestion): void {
    let line: string | undefined
    try {
      line = this.#line(answered)
    } catch (error) {
      this.#drop(1, (error as Error).message) // the answer is there already
    }
    if (line === undefined) return
    if (line.length > MOST_LINE) this.#drop(1, `a line is longer than ${MOST_LINE} characters`)
    else this.#file.write(line)
  }

  #drop(lines: number, reason: string): void {
    this.#dropped += lines
    this.#unsaid += lines
    this.#reason = reason
    if (this.#parts.now() - this.#saidAt >= LOG_EVERY) this.#say()
  }

  #say(): void {
    this.#saidAt = this.#parts.now()
    this.#parts.log.warn(
      { lines: this.#unsaid, reason: this.#reason },
      'lines of the record were dropped: they cannot be written',
    )
    this.#unsaid = 0
  }
}
