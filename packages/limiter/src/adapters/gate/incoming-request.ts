import type { RateLimitInfo } from './verdict/info.ts'

/** What a framework passes to its middleware, such as `[req, res]` or `[ctx]`: handed on to the user's functions. */
export type FrameworkArgs = readonly unknown[]

/** A user's function of a request, which may take its time. */
export type PerRequest<N extends FrameworkArgs, T> = (...args: N) => T | PromiseLike<T>

/** A request as adapters hand it to the gate: plain strings, whatever the framework. */
export interface IncomingRequest<N extends FrameworkArgs> {
  readonly args: N
  readonly method: string
  /** Path and query, as received. */
  readonly url: string
  readonly host: string | undefined
  /** The socket's own address; nothing that a header says. */
  readonly peer: string | undefined
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The framework's own request: one object, however many limiters it meets, on which they record their decisions. */
  readonly request: object
  /**
   * Shows the application its figures: called before any function of the options, and again when the request is
   * decided. Default: they become a property of `request`.
   * @param name `requestPropertyName` of the options
   */
  show?(name: string, info: RateLimitInfo): void
}

/** What became of a request. */
export interface ResponseOutcome {
  /** Of the response; absent where none was made. */
  readonly status?: number
  /** The client left, or the connection broke, before the response was out. */
  readonly aborted: boolean
}
