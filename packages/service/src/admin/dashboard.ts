import { readFileSync } from 'node:fs'
import type { App } from '../app.ts'

/** Built from packages/dashboard; beside the compiled service, wherever this file is. */
const FOLDER = new URL('../../dist/dashboard/', import.meta.url)
const FILES: readonly (readonly [path: string, file: string, type: string])[] = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/dashboard.js', 'dashboard.js', 'text/javascript; charset=utf-8'],
  ['/dashboard.css', 'dashboard.css', 'text/css; charset=utf-8'],
]
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

/** `GET /`: the page for operators. Its files need no token: what they show does. */
export function dashboardRoutes(app: App): void {
  app.addHook('onRequest', (_request, reply, done) => {
    // Pages from elsewhere may not read answers, nor take them for scripts.
    reply.headers({ 'x-content-type-options': 'nosniff', 'cross-origin-resource-policy': 'same-origin' })
    done()
  })
  for (const [path, file, type] of FILES) {
    let content: Buffer | undefined
    app.get(path, { config: { open: true } }, (_request, reply) => {
      content ??= readFileSync(new URL(file, FOLDER))
      return reply.type(type).headers(HEADERS).send(content)
    })
  }
}
