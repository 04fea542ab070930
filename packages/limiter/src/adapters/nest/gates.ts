import { MetadataScanner, type ModulesContainer, Reflector } from '@nestjs/core'
import { ConfigError } from '../../core/errors.ts'
import { createGate, type Gate } from '../gate/gate.ts'
import { mergedOptions } from '../gate/options/merge.ts'
import { type NestModuleOptions, type NestOptions, OF_MODULE, translated } from './options.ts'
import type { NestArgs } from './parts.ts'
import { type Place, placeName } from './place.ts'

/** Where decorators keep what a handler or class asks for: limits of its own, those of the module (true), or none. */
export const THROTTLE = 'sluice:throttle'

/** What holds for a request, and the limiter that decides it. */
export interface Asked {
  /** Absent: no limit. */
  readonly gate: Gate<NestArgs> | undefined
  readonly exception: NestOptions['exception']
}

const UNLIMITED: Asked = { gate: undefined, exception: undefined }

/** The limiters of a module: the general one, and those of handlers and classes. */
export class Gates {
  readonly #general: Asked
  readonly #options: NestModuleOptions
  readonly #reflector = new Reflector()
  /** By class, and by its handler; `undefined` is the class itself. */
  readonly #own = new WeakMap<Place['owner'], Map<Place['handler'], Asked>>()
  /** Names of counters that are taken. */
  readonly #names = new Map<string, Place>()

  /** @throws ConfigError for invalid options */
  constructor(options: NestModuleOptions) {
    this.#options = translated(options)
    const { exception, global } = options
    this.#general = { gate: global === false ? undefined : gateOf(this.#options), exception }
  }

  /**
   * Makes the limiters of all handlers and classes of an application, so that mistakes show when it starts.
   * @throws ConfigError for invalid options, and for two that would share counters in a store
   */
  prepare(modules: ModulesContainer): this {
    const scanner = new MetadataScanner()
    for (const { controllers, providers } of modules.values()) {
      for (const { metatype } of [...controllers.values(), ...providers.values()]) {
        if (typeof metatype !== 'function' || typeof metatype.prototype !== 'object') continue
        for (const name of scanner.getAllMethodNames(metatype.prototype))
          this.asked({ owner: metatype, handler: metatype.prototype[name] })
      }
    }
    return this
  }

  /** What the handler, or else its class, or else the module asks for. */
  asked({ owner, handler }: Required<Place>): Asked {
    const own = this.#reflector.get<NestOptions | boolean | undefined>(THROTTLE, handler!)
    if (own !== undefined) return this.#askedBy(own, { owner, handler })
    return this.#askedBy(this.#reflector.get(THROTTLE, owner) ?? true, { owner, handler: undefined })
  }

  #askedBy(own: NestOptions | boolean, place: Place): Asked {
    if (typeof own === 'boolean') return own ? this.#general : UNLIMITED
    const { owner, handler } = place
    const ofOwner = this.#own.get(owner) ?? new Map<Place['handler'], Asked>()
    this.#own.set(owner, ofOwner)
    let known = ofOwner.get(handler)
    if (known === undefined) {
      known = { gate: gateOf(this.#merged(own, place)), exception: own.exception ?? this.#options.exception }
      ofOwner.set(handler, known)
    }
    return known
  }

  /** The module's options under those of a handler or class, with a name that keeps their counters apart. */
  #merged(own: NestOptions, place: Place): NestOptions {
    const { name } = this.#options
    if (name === undefined || own.name !== undefined) return mergedOptions(this.#options, own)
    const id = placeName(place)
    const other = this.#names.get(id)
    if (other !== undefined)
      throw new ConfigError(
        `@Throttle is on two places that would share the counters "${id}": ${textOf(other)} and ${textOf(place)}; give one of them a name of its own, such as @Throttle({ name: 'logins', … })`,
      )
    this.#names.set(id, place)
    return mergedOptions({ ...this.#options, name: `${name}/${id}` }, own)
  }
}

function textOf({ owner, handler }: Place): string {
  return handler === undefined ? `class ${owner.name}` : `${owner.name}.${handler.name}`
}

function gateOf(options: NestModuleOptions): Gate<NestArgs> {
  return createGate<NestArgs>(options, OF_MODULE)
}
