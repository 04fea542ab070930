import { readFileSync } from 'node:fs'
import {
  type ChannelCredentials,
  type Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  status,
} from '@grpc/grpc-js'
import { ConfigError } from '@sluice/limiter/errors'
import type { FileBytes, RulebookFiles } from '@sluice/rulebook'
import type { Log } from '../app.ts'
import { definitions, messageOf, serviceOf } from '../grpc/definitions.ts'
import { structOf } from '../rls/struct.ts'
import type { Reload } from '../rules/live-rules.ts'
import { fileOfConfig, type RateLimitConfig } from './rate-limit-config.ts'
import type { XdsOptions } from './xds-options.ts'

interface DiscoveryResponse {
  readonly version_info?: string
  readonly nonce?: string
  readonly type_url?: string
  readonly resources?: readonly { readonly type_url?: string; readonly value?: Buffer }[]
}

const TYPE = 'ratelimit.config.ratelimit.v3.RateLimitConfig'
const TYPE_URL = `type.googleapis.com/${TYPE}`
const ADS = 'envoy.service.discovery.v3.AggregatedDiscoveryService'
const MOST_BYTES = 64 * 1_048_576
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000

/**
 * The rules as a server sends them: all of them each time. A mistake in them is told to the server, and those in force
 * stay; so they do while there is no connection.
 */
export class XdsRules {
  readonly #options: XdsOptions
  readonly #log: Log
  readonly #client: Client
  #sent: RulebookFiles = { files: [], problems: [] }
  #accepted = ''
  #stream: ClientDuplexStream<object, DiscoveryResponse> | undefined
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #closed = false
  #work: Promise<unknown> = Promise.resolve()
  #stopWaiting: (error: Error) => void = () => undefined

  /** @throws ConfigError for files of TLS that cannot be read */
  constructor(options: XdsOptions, log: Log) {
    this.#options = options
    this.#log = log
    const named =
      options.serverName === undefined ? {} : { 'grpc.ssl_target_name_override': options.serverName }
    const Anything = makeGenericClientConstructor({}, 'xds')
    this.#client = new Anything(options.server, credentialsOf(options), {
      'grpc.max_receive_message_length': MOST_BYTES,
      'grpc.keepalive_time_ms': 30_000,
      'grpc.enable_channelz': 0,
      ...named,
    })
  }

  /** What was sent last. */
  get files(): RulebookFiles {
    return this.#sent
  }

  /**
   * Connects, and waits for the first rules without a mistake.
   * @param reload takes what was sent into force
   */
  start(reload: () => Promise<Reload>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stopWaiting = reject
      this.#open(async (response) => {
        if (await this.#take(response, reload)) resolve()
      })
    })
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#stream?.cancel()
    this.#client.close()
    this.#stopWaiting(new Error('the service stopped before it had rules'))
  }

  #open(take: (response: DiscoveryResponse) => Promise<void>): void {
    const { path, requestSerialize, responseDeserialize } = serviceOf(definitions(), ADS)
      .StreamAggregatedResources!
    const headers = Metadata.fromHttp2Headers(this.#options.headers ?? {})
    const stream = this.#client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, headers)
    this.#stream = stream as ClientDuplexStream<object, DiscoveryResponse>
    let ended = false
    const again = (why: string): void => {
      if (ended || this.#closed) return
      ended = true
      const wait =
        Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures++) * (0.5 + Math.random() / 2)
      this.#log.warn(
        { server: this.#options.server, reason: why },
        'the connection for rules ended: those in force stay',
      )
      this.#timer = setTimeout(() => this.#open(take), wait)
    }
    stream.on('data', (response: DiscoveryResponse) => {
      this.#failures = 0
      this.#work = this.#work.then(() => take(response)).catch((error) => again((error as Error).message))
    })
    stream.on('error', (error) => again(error.message))
    stream.on('end', () => again('the server ended it'))
    this.#ask({ version_info: this.#accepted })
  }

  #ask(request: object): void {
    const { node = 'default', metadata } = this.#options
    const told = { id: node, cluster: node, ...(metadata && { metadata: structOf(metadata) }) }
    this.#stream?.write({ node: told, type_url: TYPE_URL, ...request })
  }

  /** @returns whether the rules are in force */
  async #take(
    { version_info = '', nonce = '', resources = [], type_url }: DiscoveryResponse,
    reload: () => Promise<Reload>,
  ): Promise<boolean> {
    if (type_url !== undefined && type_url !== TYPE_URL) return false
    const taken = await this.#reload(resources, reload)
    if (taken === undefined) {
      this.#accepted = version_info
      this.#ask({ version_info, response_nonce: nonce })
      return true
    }
    const error_detail = { code: status.INVALID_ARGUMENT, message: taken.slice(0, 4_000) }
    this.#ask({ version_info: this.#accepted, response_nonce: nonce, error_detail })
    return false
  }

  /** @returns why the rules are not in force */
  async #reload(
    resources: NonNullable<DiscoveryResponse['resources']>,
    reload: () => Promise<Reload>,
  ): Promise<string | undefined> {
    const codec = messageOf(definitions(), TYPE)
    try {
      const configs = resources.map(
        ({ value = Buffer.alloc(0) }) => codec.deserialize(value) as RateLimitConfig,
      )
      this.#sent = {
        files: configs.map(fileOfConfig).filter((file): file is FileBytes => file !== undefined),
        problems: [],
      }
    } catch (error) {
      return `a resource is not a RateLimitConfig: ${(error as Error).message}`
    }
    const loaded = await reload()
    return loaded.result === 'refused' ? loaded.error.message : undefined
  }
}

function credentialsOf({ ca, cert, key }: XdsOptions): ChannelCredentials {
  if ((cert === undefined) !== (key === undefined))
    throw new ConfigError('xds: cert and key go together', { path: ['xds', 'cert'] })
  if (cert !== undefined && ca === undefined)
    throw new ConfigError('xds: a certificate needs ca, who signs that of the server', {
      path: ['xds', 'ca'],
    })
  if (ca === undefined) return credentials.createInsecure()
  return credentials.createSsl(
    bytesOf(ca),
    key === undefined ? null : bytesOf(key),
    cert === undefined ? null : bytesOf(cert),
  )
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new ConfigError(`xds: cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`, {
      path: ['xds'],
    })
  }
}
