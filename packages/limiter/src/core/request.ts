import type { CallFields } from './options.ts'

/** The request as every adapter hands it in: plain strings, nothing of any framework. */
export interface Request {
  readonly method?: string
  /** Path without query, as received. */
  readonly path?: string
  readonly host?: string
  /** The client's address: already resolved through trusted proxies, never a raw forwarded header. */
  readonly ip?: string
  /** By lower-case name. Several values of one header are joined as HTTP joins them, with `, `. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly query?: Readonly<Record<string, string | undefined>>
  /** What only the application knows: `user`, `tenant`, `plan`, `api-key`, a cost, `param:NAME`… */
  readonly attributes?: Readonly<Record<string, string | number | undefined>>
}

/** What a request may have. */
export const REQUEST: CallFields = /* @__PURE__ */ new Map([
  ['method', 'string'],
  ['path', 'string'],
  ['host', 'string'],
  ['ip', 'string'],
  ['headers', 'object'],
  ['query', 'object'],
  ['attributes', 'object'],
])
