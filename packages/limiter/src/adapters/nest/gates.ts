import { createGate, type Gate } from '../gate/gate.ts'
import { mergedOptions } from '../gate/options/merge.ts'
import { NEST_OPTIONS, type NestModuleOptions, type NestOptions, translated } from './options.ts'
import type { NestArgs } from './parts.ts'

/** The limiters of a module: the general one, and those of handlers and classes, made when they are first met. */
export class Gates {
  readonly general: Gate<NestArgs> | undefined
  readonly exception: NestOptions['exception']
  readonly #options: NestModuleOptions
  readonly #own = new WeakMap<object, Gate<NestArgs>>()

  /** @throws ConfigError for invalid options */
  constructor(options: NestModuleOptions) {
    this.#options = translated(options)
    this.exception = options.exception
    this.general = options.global === false ? undefined : gateOf(this.#options)
  }

  /** @param id tells the counters of this handler or class apart from others in a store */
  ownOf(target: object, own: NestOptions, id: string): Gate<NestArgs> {
    const known = this.#own.get(target)
    if (known !== undefined) return known
    const { name } = this.#options
    const general = name === undefined ? this.#options : { ...this.#options, name: `${name}/${id}` }
    const gate = gateOf(mergedOptions(general, own))
    this.#own.set(target, gate)
    return gate
  }
}

function gateOf(options: NestModuleOptions): Gate<NestArgs> {
  return createGate<NestArgs>(options, NEST_OPTIONS)
}
