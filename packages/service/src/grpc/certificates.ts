import { experimental, type ServerCredentials } from '@grpc/grpc-js'
import type { Log } from '../app.ts'
import { followTls, type TlsFiles } from '../tls-files.ts'

interface Identity {
  readonly certificate: Buffer
  readonly privateKey: Buffer
}

interface Authority {
  readonly caCertificate: Buffer
}

/** Credentials that follow their files, and what ends that. */
export interface FileCredentials {
  readonly credentials: ServerCredentials
  close(): void
}

/** @throws ConfigError for files that cannot be used */
export function fileCredentials(files: TlsFiles, log: Log): FileCredentials {
  const identities = new Set<(update: Identity) => void>()
  const authorities = new Set<(update: Authority) => void>()
  const followed = followTls(files, log, 'gRPC', () => {
    for (const listener of identities) listener(identity())
    for (const listener of authorities) listener(authority())
  })
  const identity = (): Identity => {
    const { cert, key } = followed.current
    return { certificate: cert, privateKey: key }
  }
  const authority = (): Authority => ({ caCertificate: followed.current.ca! })
  const provider = {
    addIdentityCertificateListener(listener: (update: Identity) => void) {
      identities.add(listener)
      process.nextTick(() => listener(identity())) // whoever asks is not ready yet
    },
    removeIdentityCertificateListener: (listener: (update: Identity) => void) =>
      void identities.delete(listener),
    addCaCertificateListener(listener: (update: Authority) => void) {
      authorities.add(listener)
      process.nextTick(() => listener(authority()))
    },
    removeCaCertificateListener: (listener: (update: Authority) => void) => void authorities.delete(listener),
  }
  const asksClients = files.clientCa !== undefined
  return {
    credentials: experimental.createCertificateProviderServerCredentials(
      provider,
      // Its types name the two in the other order, and ask for both.
      (asksClients ? provider : null) as unknown as typeof provider,
      asksClients,
    ),
    close: followed.close,
  }
}
