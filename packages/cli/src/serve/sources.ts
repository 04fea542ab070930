import { nearest } from '@sluice/limiter/errors'
import type { Values } from '../command.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../usage-error.ts'
import { type ServeOptionRows, variableOf } from './option-row.ts'

/** One text that somebody gave, and where, as messages name it: `--http`, `SLUICE_HTTP`, `sluice.yaml:3:7: http`. */
export interface GivenText {
  readonly text: string
  readonly from: string
}

/** What one source gives for a setting, or for the file of a secret (`store-file`); `undefined` for nothing. */
export type Given = (name: string) => readonly GivenText[] | undefined

/** What the command line says. */
export function givenByFlags(values: Values, operands: readonly string[], settings: ServeOptionRows): Given {
  return (name) => {
    const setting = Object.hasOwn(settings, name) ? settings[name] : undefined
    if (setting?.operands) {
      return operands.length === 0 ? undefined : operands.map((text) => ({ text, from: 'RULES' }))
    }
    const value = values[name]
    if (setting?.kind === 'flag') {
      const opposite = values[`no-${name}`]
      if (value !== undefined && opposite !== undefined)
        throw new UsageError(`--${name} and --no-${name} are both given: remove one of them`)
      if (opposite !== undefined) return [{ text: 'false', from: `--no-${name}` }]
    }
    if (value === undefined) return undefined
    const texts = Array.isArray(value) ? (value as readonly string[]) : [String(value)]
    return texts.map((text) => ({ text, from: `--${name}` }))
  }
}

/** What the environment says. A variable that is empty is not set. */
export function givenByVariables(env: Io['env'], settings: ServeOptionRows): Given {
  return (name) => {
    const variable = variableOf(name)
    const text = env[variable]
    if (text === undefined || text === '') return undefined
    const kind = Object.hasOwn(settings, name) ? settings[name]!.kind : 'text'
    const texts = kind === 'list' || kind === 'paths' ? text.split(',').map((part) => part.trim()) : [text]
    return texts.map((own) => ({ text: own, from: variable }))
  }
}

/** What Kubernetes sets in each container for a Service named sluice. */
const OF_KUBERNETES = /^SLUICE_(?:.+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT(?:_.+)?)$/

const PREFIX = 'SLUICE_'

/** Variables that look like a setting's and are none, with the one that was meant. They are no error: others may own them. */
export function strayVariables(env: Io['env'], settings: ServeOptionRows): string[] {
  const known = Object.entries(settings).flatMap(([name, { secret }]) =>
    secret === undefined ? [variableOf(name)] : [variableOf(name), variableOf(`${name}-file`)],
  )
  known.push(variableOf('config'))
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name) && !OF_KUBERNETES.test(name))
    .flatMap((name) => {
      const meant = nearest(
        name.slice(PREFIX.length),
        known.map((one) => one.slice(PREFIX.length)),
      )
      return meant === undefined ? [] : [`${name} is no setting: did you mean ${PREFIX}${meant}?`]
    })
}
