import { ConfigError } from '@sluice/limiter'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Where gRPC listens: an address of TCP, or a socket of the file system. */
export type GrpcAddress = ListenAddress | { readonly path: string }

export const DEFAULT_HTTP = '127.0.0.1:8080'
export const DEFAULT_ADMIN = '127.0.0.1:6070'

const HOST_AND_PORT = /^(?:\[([\da-f:.]+)\]|([^\s:[\]/]*)):(\d{1,5})$/i

/** `HOST:PORT`, `[IPv6]:PORT`, or `:PORT` for every address of the machine. Port 0: any free one. @throws ConfigError */
export function addressOf(text: string): ListenAddress {
  const [, ipv6, host, digits] = HOST_AND_PORT.exec(text) ?? []
  const port = Number(digits)
  if (!(port <= 65_535)) {
    throw new ConfigError(
      `${JSON.stringify(text)} is not an address: write HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080`,
    )
  }
  return { host: ipv6 ?? (host || '::'), port }
}

/** The same, or `unix:PATH`. @throws ConfigError */
export function grpcAddressOf(text: string): GrpcAddress {
  if (!text.startsWith('unix:')) return addressOf(text)
  const path = text.slice('unix:'.length)
  if (path === '' || path.includes('\0') || Buffer.byteLength(path) > LONGEST_PATH)
    throw new ConfigError(
      `${JSON.stringify(text)} is not an address: write unix:PATH, of at most ${LONGEST_PATH} bytes`,
    )
  return { path }
}

/** Bytes of a socket's name, by its type (sockaddr_un). */
const LONGEST_PATH = 107
