import { readFileSync } from 'node:fs'
import { DASHBOARD_PAGE } from '../built.ts'

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

/** Of every answer: pages from elsewhere may not read it, nor take it for a script. */
export const OWN_PAGES_ONLY: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
}

/** One file of the page for operators. */
export interface DashboardFile {
  /** Below the place where the page is: `/`, `/dashboard.js`, `/dashboard.css`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Is read once. */
  content(): Buffer<ArrayBuffer>
}

/**
 * The page for operators. Its files need no token: what they show does.
 * @example
 * for (const { path, headers, content } of dashboardFiles()) app.get(path, (_, reply) => reply.headers(headers).send(content()))
 */
export function dashboardFiles(): readonly DashboardFile[] {
  return FILES.map(([path, file, type]) => {
    let content: Buffer<ArrayBuffer> | undefined
    return {
      path,
      headers: { 'content-type': type, ...HEADERS },
      content: () => {
        content ??= readFileSync(new URL(file, DASHBOARD_PAGE))
        return content
      },
    }
  })
}
