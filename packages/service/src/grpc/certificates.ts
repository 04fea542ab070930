import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { experimental, type ServerCredentials } from '@grpc/grpc-js'
import { ConfigError } from '@sluice/limiter/errors'
import type { Log } from '../app.ts'

/** Files of TLS. All are in PEM. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
  /** Who signs the certificates that clients must show. Default: clients show none. */
  readonly clientCa?: string
  /** A name that a client's certificate must have: exact, of its subjectAltName. */
  readonly clientName?: string
}

interface Certificates {
  readonly certificate: Buffer
  readonly privateKey: Buffer
  readonly caCertificate: Buffer | undefined
}

/** Milliseconds between two looks at the files. */
const LOOKS_EVERY = 1_000

/** Credentials that follow their files, and what ends that. */
export interface FileCredentials {
  readonly credentials: ServerCredentials
  close(): void
}

/**
 * Reads the files now, and again when they change: new connections have what was read last without a mistake. A
 * certificate that does not belong to its key, as between the writing of two files, changes nothing.
 * @throws ConfigError for files that cannot be used
 */
export function fileCredentials(files: TlsFiles, log: Log): FileCredentials {
  let current = read(files)
  let failed = ''
  const identity = new Set<(update: Certificates) => void>()
  const authorities = new Set<(update: { readonly caCertificate: Buffer }) => void>()
  const tell = (): void => {
    for (const listener of identity) listener(current)
    for (const listener of authorities) listener({ caCertificate: current.caCertificate! })
  }
  const look = (): void => {
    try {
      const found = read(files)
      failed = ''
      if (isSame(found, current)) return
      current = found
      tell()
      log.info('the certificates of gRPC are in force as the files have them')
    } catch (error) {
      const { message } = error as Error
      if (message !== failed)
        log.error({ reason: message }, 'the certificates of gRPC cannot be used: those in force stay')
      failed = message
    }
  }
  const timer = setInterval(look, LOOKS_EVERY)
  timer.unref()
  const provider = {
    addIdentityCertificateListener(listener: (update: Certificates) => void) {
      identity.add(listener)
      process.nextTick(() => listener(current)) // whoever asks is not ready yet
    },
    removeIdentityCertificateListener: (listener: (update: Certificates) => void) =>
      void identity.delete(listener),
    addCaCertificateListener(listener: (update: { readonly caCertificate: Buffer }) => void) {
      authorities.add(listener)
      process.nextTick(() => listener({ caCertificate: current.caCertificate! }))
    },
    removeCaCertificateListener: (listener: (update: { readonly caCertificate: Buffer }) => void) =>
      void authorities.delete(listener),
  }
  const asksClients = files.clientCa !== undefined
  return {
    credentials: experimental.createCertificateProviderServerCredentials(
      provider,
      // Its types name the two in the other order, and ask for both.
      (asksClients ? provider : null) as unknown as typeof provider,
      asksClients,
    ),
    close: () => clearInterval(timer),
  }
}

function read({ cert, key, clientCa }: TlsFiles): Certificates {
  const certificate = bytesOf(cert)
  const privateKey = bytesOf(key)
  const caCertificate = clientCa === undefined ? undefined : bytesOf(clientCa)
  try {
    createSecureContext({ cert: certificate, key: privateKey, ...(caCertificate && { ca: caCertificate }) })
  } catch (error) {
    const named = [cert, key, ...(clientCa === undefined ? [] : [clientCa])].join(', ')
    throw new ConfigError(`TLS cannot use ${named}: ${(error as Error).message}`)
  }
  return { certificate, privateKey, caCertificate }
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new ConfigError(`TLS cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

function isSame(a: Certificates, b: Certificates): boolean {
  const text = ({ certificate, privateKey, caCertificate }: Certificates): string =>
    [certificate, privateKey, caCertificate].map((bytes) => bytes?.toString('base64') ?? '').join('.')
  return text(a) === text(b)
}
