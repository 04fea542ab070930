import { isIPv6 } from 'node:net'
import { parseCidr } from '@sluice/limiter/address'
import { parseGlob, type When } from '@sluice/limiter/rules'
import { z } from 'zod'
import { asFieldError, FieldError, quoted } from '../mistake.ts'
import { type FieldsOf, mapOf, oneOrMany, readWith, text } from './fields.ts'

type Headers = Readonly<Record<string, readonly string[]>>

const NOTHING = { error: 'there is no condition here' }

const whenFields: FieldsOf<When> = {
  method: oneOrMany(readWith('must be a method, such as GET', parseMethod))
    .describe('Request methods.')
    .exactOptional(),
  path: oneOrMany(readWith('must be a path, such as /search/**', parsePath))
    .describe('Path globs: * one segment, ** any number, :name one segment kept as a parameter.')
    .exactOptional(),
  host: oneOrMany(readWith('must be a host, such as api.example.com', parseHost))
    .describe('Hosts without port; * stands for any part.')
    .exactOptional(),
  header: z
    .record(z.string(), oneOrMany(text))
    .refine(holdsAny, NOTHING)
    .transform(byLowerName)
    .describe('Headers, and the values that each may have.')
    .exactOptional(),
  query: z
    .record(z.string(), oneOrMany(text))
    .refine(holdsAny, NOTHING)
    .describe('Query parameters, and the values that each may have.')
    .exactOptional(),
  ip: oneOrMany(readWith('must be an address or a range, such as 10.0.0.0/8', parseRange))
    .describe('Addresses and CIDRs of clients.')
    .exactOptional(),
}

/** Conditions, all of which must hold; each is one value or a list of alternatives. */
export const whenSchema: z.ZodType<When> = mapOf(whenFields).refine(holdsAny, NOTHING)

function holdsAny(map: object): boolean {
  return Object.keys(map).length > 0
}

/** Headers have no case: `X-Env` and `x-env` would be two conditions on one. */
function byLowerName(written: Headers, context: z.RefinementCtx): Headers {
  const headers = new Map<string, readonly string[]>()
  for (const [name, values] of Object.entries(written)) {
    try {
      const lower = parseHeaderName(name)
      if (headers.has(lower)) throw new FieldError(`${quoted(name)} is defined twice`)
      headers.set(lower, values)
    } catch (error) {
      if (!(error instanceof FieldError)) throw error
      context.issues.push({
        code: 'custom',
        message: error.message,
        path: [name],
        part: 'key',
        input: written,
      })
    }
  }
  return Object.fromEntries(headers)
}

/** A method's name, in capitals. @throws Mistake */
export function parseMethod(text: string): string {
  if (!/^[A-Za-z][A-Za-z-]*$/.test(text)) throw new FieldError(`${quoted(text)} is not a method, such as GET`)
  return text.toUpperCase()
}

/** A path's glob, as it stands. @throws Mistake */
export function parsePath(text: string): string {
  asFieldError(() => parseGlob(text))
  return text
}

/** A host without port, in small letters; a `*` stands for any part of it. @throws Mistake */
export function parseHost(text: string): string {
  const address = /^\[(.+)\]$/.exec(text)?.[1]
  if (address === undefined ? !/^[\w*-]+(?:\.[\w*-]+)*\.?$/.test(text) : !isIPv6(address)) {
    throw new FieldError(`${quoted(text)} is not a host: write its name alone, such as api.example.com`)
  }
  return text.toLowerCase()
}

/** A header's name, in small letters. @throws Mistake */
export function parseHeaderName(text: string): string {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(text)) throw new FieldError(`${quoted(text)} is not the name of a header`)
  return text.toLowerCase()
}

/** An address, or a range of them such as `10.0.0.0/8`, as it stands. @throws Mistake */
export function parseRange(text: string): string {
  if (parseCidr(text) === undefined) {
    throw new FieldError(`${quoted(text)} is not an address or a range, such as 10.0.0.0/8`)
  }
  return text
}
