import { ConfigError } from '../../core/errors.ts'

/**
 * Sends one command and answers what the server did; rejects with its error.
 * @param args the command's name and its arguments
 * @param key one of its keys, for a cluster to find the node
 */
export type Send = (args: string[], key: string) => Promise<unknown>

/** What is used of an ioredis or iovalkey client, single, sentinel or cluster. */
export interface CallingClient {
  call(command: string, args: string[]): Promise<unknown>
  readonly isCluster?: boolean
  readonly options?: object
}

/** What is used of a node-redis client or pool. */
export interface SendingClient {
  sendCommand(args: string[]): Promise<unknown>
}

/** What is used of a node-redis cluster. */
export interface SendingCluster {
  sendCommand(key: string | undefined, isReadonly: boolean | undefined, args: string[]): Promise<unknown>
  readonly masters: unknown
}

/** What is used of a node-redis sentinel. */
export interface SendingSentinel {
  sendCommand(isReadonly: boolean | undefined, args: string[]): Promise<unknown>
  getMasterNode(): unknown
}

export type RedisClient = CallingClient | SendingClient | SendingCluster | SendingSentinel

export interface Sender {
  readonly send: Send
  readonly cluster: boolean
}

/**
 * How to send commands through a client, told from its shape.
 * @throws ConfigError for what is no client of these, or one that would send a charge twice
 */
export function senderOf(client: RedisClient): Sender {
  if (typeof client !== 'object' || client === null) throw new ConfigError('client must be a Redis client')
  if ('call' in client && typeof client.call === 'function') return callingSender(client)
  if (!('sendCommand' in client && typeof client.sendCommand === 'function')) {
    throw new ConfigError('client must be an ioredis, iovalkey or node-redis client; for any other pass `send`')
  }
  if ('masters' in client) return { send: (args, key) => client.sendCommand(key, false, args), cluster: true }
  if ('getMasterNode' in client) return { send: (args) => client.sendCommand(false, args), cluster: false }
  return { send: (args) => client.sendCommand(args), cluster: false }
}

function callingSender(client: CallingClient): Sender {
  const { isCluster = false, options = {} } = client
  if (!isCluster && 'autoResendUnfulfilledCommands' in options && options.autoResendUnfulfilledCommands !== false) {
    throw new ConfigError(
      'this client sends again what was unanswered when a connection broke, which would charge twice: create it with autoResendUnfulfilledCommands: false',
    )
  }
  return {
    send: (args) => client.call(args[0]!, args.slice(1)),
    cluster: isCluster,
  }
}
