import type { DescriptorBody } from '@sluice/limiter/wire'

/** What `sluice types` writes about one domain: names, each as a union of texts. */
export interface DomainNames {
  /** The parts of each limit's key. */
  readonly limits: Readonly<Record<string, string>>
  /** Headers that its rules read, in lower case. */
  readonly headers: string
  /** Parameters of the query that its rules read. */
  readonly query: string
  /** Attributes that its rules read. */
  readonly attributes: string
  /** Keys of its descriptors. */
  readonly entries: string
}

/** Domains by name, as `sluice types` writes them. */
export type LimitNames = Readonly<Record<string, DomainNames>>

/** The names of a domain's limits. */
export type NamesOfLimits<D extends DomainNames> = keyof D['limits'] & string

/** The names of all limits. */
export type AllLimits<L extends LimitNames> = { [D in keyof L]: NamesOfLimits<L[D]> }[keyof L]

/** What is asked about: exactly one of the two. */
export type QuestionSubject<D extends DomainNames> =
  | {
      readonly request: RequestOf<D>
      readonly descriptors?: never
    }
  | {
      readonly descriptors: readonly (Omit<DescriptorBody, 'entries'> & {
        readonly entries: readonly { readonly key: D['entries']; readonly value: string }[]
      })[]
      readonly request?: never
    }

/** A request, as far as the rules of its domain read it. */
export interface RequestOf<D extends DomainNames> {
  readonly method?: string
  /** Path without query, as received. */
  readonly path?: string
  readonly host?: string
  /** The address of whoever sent it, already resolved through trusted proxies. */
  readonly ip?: string
  readonly headers?: { readonly [Name in D['headers']]?: string }
  readonly query?: { readonly [Name in D['query']]?: string }
  readonly attributes?: { readonly [Name in D['attributes']]?: string | number }
}

/** A question about a domain; `domain` may be left out where the client has a default. */
export type ServiceQuestion<L extends LimitNames, D extends keyof L & string> = QuestionSubject<L[D]> & {
  readonly domain?: D
  /** For rules that state no cost of their own: a whole number from 0 to 2^53 − 1. Default 1. */
  readonly cost?: number
} & ([D] extends [never] ? { readonly domain: keyof L } : unknown)
