import type { Server } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { type App, createApp, type Log } from '../app.ts'
import type { Bounds } from '../bounds.ts'
import { HttpError } from '../problem.ts'
import { followTls, hasClientName, type TlsFiles } from '../tls-files.ts'

/**
 * An app that speaks TLS by certificates that follow their files. With `clientCa` nothing is answered, not even
 * `/healthz`, without a certificate that it signed.
 * @throws ConfigError for files that cannot be used
 */
export function tlsApp(files: TlsFiles, bounds: Bounds, log: Log, stopping: () => boolean): App {
  const asks = files.clientCa !== undefined
  const followed = followTls(files, log, 'the admin address', (certificates) => {
    ;(app.server as unknown as Server).setSecureContext(certificates)
  })
  const https = { ...followed.current, requestCert: asks, rejectUnauthorized: asks }
  const app = createApp(bounds, log, stopping, { https })
  app.server.once('close', followed.close)
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const { subjectaltname } = (raw.socket as TLSSocket).getPeerCertificate() ?? {}
    const known = hasClientName(subjectaltname, files.clientName)
    done(
      known
        ? undefined
        : new HttpError(403, 'the certificate does not have the name that this service asks for'),
    )
  })
  return app
}
