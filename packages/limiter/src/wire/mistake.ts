import { SluiceError } from '../core/errors.ts'

/** A field that a body has and should not have. */
export interface UnknownField {
  readonly name: string
  /** The fields that may stand there. */
  readonly known: readonly string[]
}

/**
 * A body that is not what the call takes; over HTTP a 400. Its `code` is `ERR_SLUICE_WIRE`.
 * @example
 * if (error instanceof WireError) response.writeHead(400).end(`${error.path}: ${error.message}`)
 */
export class WireError extends SluiceError {
  /** Where the mistake is, such as `descriptors[0].cost`; `''` when it is the body itself. */
  readonly path: string
  /** Present when the mistake is an unknown field in the object at `path`. */
  readonly unknown?: UnknownField

  constructor(message: string, path: string, unknown?: UnknownField) {
    super('ERR_SLUICE_WIRE', message)
    this.path = path
    if (unknown !== undefined) this.unknown = unknown
  }
}

/** What is wrong with a value. Its path is put together only when the whole body has been left. */
export interface Mistake {
  /** Names and indexes that lead to it, the innermost first: each check adds its own on the way out. */
  readonly steps: (string | number)[]
  /** @param place the path, or a name for the whole body where the path is empty */
  readonly message: (place: string) => string
  readonly unknown?: UnknownField
}

/** @param expected what belongs there, such as `an object` */
export function wrong(expected: string): Mistake {
  return { steps: [], message: (place) => `${place} must be ${expected}` }
}

/** A rule for the whole body that it does not keep. @param message all of it */
export function broken(message: string): Mistake {
  return { steps: [], message: () => message }
}

export function missing(name: string): Mistake {
  return { steps: [name], message: (place) => `${place} is missing` }
}

export function unknownField(name: string, known: readonly string[]): Mistake {
  const quoted = JSON.stringify(shortened(name))
  return { steps: [], message: (place) => `unknown field ${quoted} in ${place}`, unknown: { name, known } }
}

/** @param whole what messages call the body */
export function mistakeError({ steps, message, unknown }: Mistake, whole: string): WireError {
  const path = pathOf(steps)
  return new WireError(message(path === '' ? whole : path), path, unknown)
}

/** `['cost', 0, 'descriptors']` is `descriptors[0].cost`. */
function pathOf(steps: readonly (string | number)[]): string {
  return steps.reduceRight<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`
    return path === '' ? shortened(step) : `${path}.${shortened(step)}`
  }, '')
}

/** A name that a caller made up may be as long as a body. */
function shortened(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name
}
