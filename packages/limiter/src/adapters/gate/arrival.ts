/** What a framework hands to its middleware, such as `[req, res]` or `[ctx]`: passed on to the user's functions. */
export type Native = readonly unknown[]

/** A user's function, which may take its time. */
export type Ask<N extends Native, T> = (...native: N) => T | PromiseLike<T>

/** A request as adapters hand it in: plain strings, whatever the framework. */
export interface Arrival<N extends Native> {
  readonly native: N
  readonly method: string
  /** Path and query, as received. */
  readonly url: string
  readonly host: string | undefined
  /** The socket's own address; nothing that a header says. */
  readonly peer: string | undefined
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** One object for one request, however many limiters it meets: they leave word for each other on it. */
  readonly holder: object
}

/** What became of a request. */
export interface Outcome {
  /** Of the response; absent where none was made. */
  readonly status?: number
  /** The caller left, or the connection broke, before the response was out. */
  readonly aborted: boolean
}
