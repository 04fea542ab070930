import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { ConfigError } from '@sluice/limiter/errors'
import { type OptionCheck, objectOf, textCheck } from '@sluice/limiter/options'
import type { Log } from './app.ts'

/** Files of TLS. All are in PEM. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
  /** Who signs the certificates that clients must show. Default: clients show none. */
  readonly clientCa?: string
  /** A name that a client's certificate must have: exact, of its subjectAltName. */
  readonly clientName?: string
}

/** What the options of TLS may be. */
export const tlsCheck: OptionCheck = objectOf<TlsFiles>(
  { cert: textCheck, key: textCheck, clientCa: textCheck, clientName: textCheck },
  ['cert', 'key'],
)

/** What the files say. */
export interface Certificates {
  readonly cert: Buffer
  readonly key: Buffer
  /** Absent where clients show no certificate. */
  readonly ca?: Buffer
}

/** Milliseconds between two looks at the files. */
const LOOKS_EVERY = 1_000

/** Certificates that follow their files, and what ends that. */
export interface FollowedTls {
  readonly current: Certificates
  close(): void
}

/**
 * Reads the files now, and again when they change: new connections have what was read last without a mistake. A
 * certificate that does not belong to its key, as between the writing of two files, changes nothing.
 * @param of what the certificates are of, for the log
 * @throws ConfigError for files that cannot be used
 */
export function followTls(
  files: TlsFiles,
  log: Log,
  of: string,
  changed: (certificates: Certificates) => void,
): FollowedTls {
  let current = read(files)
  let failed = ''
  const look = (): void => {
    try {
      const found = read(files)
      failed = ''
      if (isSame(found, current)) return
      current = found
      changed(current)
      log.info(`the certificates of ${of} are in force as the files have them`)
    } catch (error) {
      const { message } = error as Error
      if (message !== failed)
        log.error({ reason: message }, `the certificates of ${of} cannot be used: those in force stay`)
      failed = message
    }
  }
  const timer = setInterval(look, LOOKS_EVERY)
  timer.unref()
  return {
    get current() {
      return current
    },
    close: () => clearInterval(timer),
  }
}

/**
 * Whether a client's certificate has the name that is asked for.
 * @param subjectAltName as Node writes it: `DNS:a, IP Address:192.0.2.1`
 */
export function hasClientName(subjectAltName: string | undefined, wanted: string | undefined): boolean {
  if (wanted === undefined) return true
  const names = subjectAltName?.split(', ') ?? []
  return names.some((name) => name.replace(/^\w+(?: Address)?:/, '') === wanted)
}

function read({ cert, key, clientCa }: TlsFiles): Certificates {
  const certificates = {
    cert: bytesOf(cert),
    key: bytesOf(key),
    ...(clientCa !== undefined && { ca: bytesOf(clientCa) }),
  }
  try {
    createSecureContext(certificates)
  } catch (error) {
    const named = [cert, key, ...(clientCa === undefined ? [] : [clientCa])].join(', ')
    throw new ConfigError(`TLS cannot use ${named}: ${(error as Error).message}`)
  }
  return certificates
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new ConfigError(`TLS cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

function isSame(a: Certificates, b: Certificates): boolean {
  const text = ({ cert, key, ca }: Certificates): string =>
    [cert, key, ca].map((bytes) => bytes?.toString('base64') ?? '').join('.')
  return text(a) === text(b)
}
