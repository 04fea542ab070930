import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Certificates of an authority of a test's own. */
export interface TestAuthority {
  /** Of the authority. */
  readonly ca: string
  /** Makes a certificate for the loopback interface, and its key. @param name of the subject and of subjectAltName */
  issue(name: string): { readonly cert: string; readonly key: string }
  /** Puts another pair into the place of one. */
  replace(
    from: { readonly cert: string; readonly key: string },
    to: { readonly cert: string; readonly key: string },
  ): void
  remove(): void
}

export function testAuthority(): TestAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-certificates-'))
  const at = (name: string): string => join(folder, name)
  const openssl = (...args: string[]): void =>
    void execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '2',
    '-subj',
    '/CN=authority',
  )
  let issued = 0
  return {
    ca: at('ca.pem'),
    issue(name) {
      const own = `${++issued}`
      writeFileSync(at(`${own}.ext`), `subjectAltName=DNS:${name},DNS:localhost,IP:127.0.0.1\n`)
      openssl('req', ...newKey, '-keyout', `${own}.key`, '-out', `${own}.csr`, '-subj', `/CN=${name}`)
      const signed = [
        '-CA',
        'ca.pem',
        '-CAkey',
        'ca.key',
        '-CAcreateserial',
        '-days',
        '2',
        '-extfile',
        `${own}.ext`,
      ]
      openssl('x509', '-req', '-in', `${own}.csr`, '-out', `${own}.pem`, ...signed)
      return { cert: at(`${own}.pem`), key: at(`${own}.key`) }
    },
    replace(from, to) {
      copyFileSync(to.cert, from.cert)
      copyFileSync(to.key, from.key)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export function bytes(path: string): Buffer {
  return readFileSync(path)
}
