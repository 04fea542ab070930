import { ConfigError } from '../../core/errors.ts'

/**
 * Sends one command, once, and answers what the server did; rejects with its error.
 * @param args the command's name and its arguments
 * @param key one of its keys, for a cluster to find the node
 */
export type Send = (args: string[], key: string) => Promise<unknown>

/** What is used of an ioredis or iovalkey client, single, sentinel or cluster. */
interface CallingClient {
  call(command: string, args: string[]): Promise<unknown>
  readonly isCluster?: boolean
  readonly options: object
}

/** What is used of a node-redis client or pool. */
interface SendingClient {
  sendCommand(args: string[]): Promise<unknown>
}

/** What is used of a node-redis cluster. */
interface SendingCluster {
  sendCommand(key: string | undefined, isReadonly: boolean | undefined, args: string[]): Promise<unknown>
  readonly masters: readonly unknown[]
}

/** What is used of a node-redis sentinel. */
interface SendingSentinel {
  sendCommand(isReadonly: boolean | undefined, args: string[]): Promise<unknown>
  getMasterNode(): unknown
}

/** What is used of a Valkey GLIDE client. */
interface GlideClient {
  customCommand(args: string[]): Promise<unknown>
}

/** What is used of a client of @upstash/redis, which speaks Redis' REST protocol. */
interface RestClient {
  exec(args: [string, ...string[]]): Promise<unknown>
  readonly evalsha: unknown
}

/** Its settings, which it does not show by type. */
interface RestSettings {
  readonly client?: { readonly retry?: { readonly attempts?: number } }
  readonly opts?: { readonly automaticDeserialization?: boolean }
}

export type RedisClient =
  | CallingClient
  | SendingClient
  | SendingCluster
  | SendingSentinel
  | GlideClient
  | RestClient

export interface Sender {
  readonly send: Send
  readonly cluster: boolean
}

/**
 * How to send commands through a client, recognised by its shape.
 * @throws ConfigError for what is no client of these, or one that would send a charge twice
 */
export function senderOf(client: RedisClient): Sender {
  const given: object = Object(client)
  if (isCalling(given)) {
    refuseResending(given)
    return { send: (args) => given.call(args[0]!, args.slice(1)), cluster: given.isCluster === true }
  }
  if ('customCommand' in given) {
    const glide = given as GlideClient
    return { send: (args) => glide.customCommand(args), cluster: /cluster/i.test(given.constructor.name) }
  }
  if ('exec' in given && 'evalsha' in given) {
    const rest = given as RestClient
    refuseRepeating(given as RestSettings)
    return { send: (args) => rest.exec(args as [string, ...string[]]), cluster: false }
  }
  if (!('sendCommand' in given)) {
    throw new ConfigError(
      'client must be an ioredis, iovalkey, node-redis, GLIDE or @upstash/redis client; for any other pass `send`',
    )
  }
  if ('masters' in given) {
    const cluster = client as SendingCluster
    return { send: (args, key) => cluster.sendCommand(key, false, args), cluster: true }
  }
  if ('getMasterNode' in given) {
    const sentinel = client as SendingSentinel
    return { send: (args) => sentinel.sendCommand(false, args), cluster: false }
  }
  const single = client as SendingClient
  return { send: (args) => single.sendCommand(args), cluster: false }
}

function isCalling(client: object): client is CallingClient {
  return 'call' in client && typeof client.call === 'function'
}

/** By default these clients send again what was unanswered when its connection broke: a charge may have been made. */
function refuseResending({ isCluster, options }: CallingClient): void {
  const resends = isCluster
    ? 'retryDelayOnFailover' in options && options.retryDelayOnFailover !== 0
    : 'autoResendUnfulfilledCommands' in options && options.autoResendUnfulfilledCommands !== false
  if (!resends) return
  const option = isCluster ? 'retryDelayOnFailover: 0' : 'autoResendUnfulfilledCommands: false'
  throw new ConfigError(
    `this client may send a command twice, which would charge twice: create it with ${option}`,
  )
}

/**
 * @upstash/redis sends again what was not answered, five times by default and once with `retry: false`; and it reads
 * texts as JSON unless told not to.
 */
function refuseRepeating({ client, opts }: RestSettings): void {
  if (client?.retry?.attempts === 0 && opts?.automaticDeserialization === false) return
  throw new ConfigError(
    'this client may send a command twice, which would charge twice: create it with retry: { retries: 0 }, automaticDeserialization: false',
  )
}
