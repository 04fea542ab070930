import { type OptionFields, recordOf, textCheck } from '@sluice/limiter/options'

/** A server that sends the rules by xDS, state of the world, as Envoy Gateway has. */
export interface XdsOptions {
  /** `HOST:PORT`. */
  readonly server: string
  /** The id of this node. Default `default`. */
  readonly node?: string
  /** Told to the server with it. */
  readonly metadata?: Readonly<Record<string, string>>
  /** Headers of the call. */
  readonly headers?: Readonly<Record<string, string>>
  /** Who signs the server's certificate: a file in PEM. With it the connection is by TLS. */
  readonly ca?: string
  /** A certificate to show, and its key: files in PEM. */
  readonly cert?: string
  readonly key?: string
  /** The name that the server's certificate has, where it is not its address. */
  readonly serverName?: string
}

/** What the options may be. */
export const xdsFields: OptionFields<XdsOptions> = {
  server: textCheck,
  node: textCheck,
  metadata: recordOf(textCheck),
  headers: recordOf(textCheck),
  ca: textCheck,
  cert: textCheck,
  key: textCheck,
  serverName: textCheck,
}
