import { ConfigError } from '../errors.ts'
import { type Cidr, cidrTrie, parseCidr, valuesAt } from '../identify/cidr.ts'
import type { Facts } from '../identify/facts.ts'
import { hostName } from '../identify/header.ts'
import type { When } from './domain.ts'
import { fits, type Glob, parseGlob } from './glob.ts'
import { wildcard } from './wildcard.ts'
import { type PatternPiece, piecesOf } from './wildcard-index.ts'

/** One condition of a rule, whose alternatives are within it. */
export interface Condition {
  holds(facts: Facts): boolean
  /** For explanations: the field, and the values that it may have. */
  readonly what: string
  readonly values: readonly string[]
  /** For each alternative, where an index may file the rule; empty where one alternative is met by too much. */
  readonly handles: readonly (readonly Handle[])[]
}

/** What an alternative demands, as an index can look it up. */
export type Handle =
  | { readonly kind: 'value'; readonly field: RequestField; readonly value: string }
  | { readonly kind: 'piece'; readonly field: RequestField; readonly piece: PatternPiece }
  | { readonly kind: 'path'; readonly glob: Glob }
  | { readonly kind: 'ip'; readonly cidr: Cidr }

/** A fact with a single value, or with several. Equal fields have equal ids. */
export interface RequestField {
  readonly id: string
  readonly read: (facts: Facts) => string | readonly string[] | undefined
}

/** The conditions of a rule, cheapest first. @throws ConfigError */
export function conditionsOf(when: When, globs: readonly Glob[]): readonly Condition[] {
  const { method, host, header = {}, query = {}, ip } = when
  const conditions: Condition[] = []
  if (method !== undefined) conditions.push(equality(METHOD, listed('method', method).map(upperCase)))
  if (host !== undefined) conditions.push(hostCondition(listed('host', host)))
  for (const [name, values] of Object.entries(header)) {
    const lower = name.toLowerCase()
    const field = { id: `header ${lower}`, read: (facts: Facts) => facts.header(lower) }
    conditions.push(equality(field, listed(field.id, values)))
  }
  for (const [name, values] of Object.entries(query)) {
    const field = { id: `query ${name}`, read: (facts: Facts) => facts.query(name) }
    conditions.push(equality(field, listed(field.id, values)))
  }
  if (globs.length > 0) conditions.push(pathCondition(globs))
  if (ip !== undefined) conditions.push(ipCondition(listed('ip', ip)))
  return conditions
}

/** The globs of a rule's path, where it has one. @throws ConfigError */
export function globsOf(when: When, foldPaths: boolean): readonly Glob[] {
  return when.path === undefined ? [] : listed('path', when.path).map((text) => parseGlob(text, foldPaths))
}

const METHOD: RequestField = { id: 'method', read: (facts) => facts.method }
const HOST: RequestField = { id: 'host', read: (facts) => facts.host }
const SEGMENT: RequestField = { id: 'segment', read: (facts) => facts.segments }

function listed(what: string, values: readonly string[]): readonly string[] {
  if (values.length === 0) throw new ConfigError(`${what} lists nothing, so the rule could never apply`)
  return values
}

function upperCase(text: string): string {
  return text.toUpperCase()
}

function equality(field: RequestField, values: readonly string[]): Condition {
  const wanted = new Set(values)
  return {
    holds: (facts) => wanted.has(field.read(facts) as string),
    what: field.id,
    values,
    handles: values.map((value) => [{ kind: 'value', field, value }]),
  }
}

/** `*.example.com` has its `*`; other hosts are compared whole. */
function hostCondition(hosts: readonly string[]): Condition {
  const wanted = hosts.map(hostName)
  if (!wanted.some((host) => host.includes('*'))) return equality(HOST, wanted)
  const patterns = wanted.map(wildcard)
  return {
    holds: ({ host }) => host !== undefined && patterns.some((matches) => matches(host)),
    what: 'host',
    values: hosts,
    handles: narrowing(wanted.map((host) => likeHandles(HOST, host))),
  }
}

function pathCondition(globs: readonly Glob[]): Condition {
  return {
    holds: (facts) => globs.some((glob) => fits(glob, facts.segments)),
    what: 'path',
    values: globs.map(({ text }) => text),
    handles: narrowing(globs.map(globHandles)),
  }
}

/** What stands before the first gap of unknown length, and each segment, which is somewhere in the path. */
function globHandles(glob: Glob): readonly Handle[] {
  const own = glob.segments.flatMap((segment): readonly Handle[] => {
    if (segment.kind === 'literal') return [{ kind: 'value', field: SEGMENT, value: segment.text }]
    return segment.kind === 'like' ? likeHandles(SEGMENT, segment.text) : []
  })
  return own.length === 0 ? [] : [{ kind: 'path', glob }, ...own]
}

function likeHandles(field: RequestField, pattern: string): readonly Handle[] {
  if (!pattern.includes('*')) return [{ kind: 'value', field, value: pattern }]
  return piecesOf(pattern).map((piece) => ({ kind: 'piece', field, piece }))
}

/** Where one alternative has no handle, the rule must always be looked at. */
function narrowing(handles: readonly (readonly Handle[])[]): readonly (readonly Handle[])[] {
  return handles.every((own) => own.length > 0) ? handles : []
}

function ipCondition(texts: readonly string[]): Condition {
  const cidrs = texts.map((text) => {
    const cidr = parseCidr(text)
    if (cidr === undefined)
      throw new ConfigError(`${JSON.stringify(text.slice(0, 80))} is no address or CIDR`)
    return cidr
  })
  const trie = cidrTrie(cidrs.map((cidr) => [cidr, true]))
  return {
    holds: ({ address }) => address !== undefined && valuesAt(trie, address).length > 0,
    what: 'ip',
    values: texts,
    handles: cidrs.map((cidr) => [{ kind: 'ip', cidr }]),
  }
}
