import type { Addresses } from '@sluice/service'
import { printable } from '../printable.ts'
import type { Sample } from './sample.ts'

/** Most checks that are shown. */
const MOST_CHECKS = 4

/** Where the service listens, and what to try next: lines that can be pasted into a shell. */
export function bannerOf({ http, admin, grpc }: Addresses, samples: readonly Sample[]): string {
  return [
    `sluice listens at ${http},${grpc === undefined ? '' : ` for Envoy at ${grpc},`} for its operators at ${admin}. Try:`,
    '',
    ...samples
      .slice(0, MOST_CHECKS)
      .flatMap(({ rule, body }) => [
        `  # ${printable(`${body.domain}, ${rule}`)}`,
        `  curl -s ${http}/v1/check -H 'content-type: application/json' -d ${shellQuoted(JSON.stringify(body))}`,
      ]),
    `  # what it does, in a browser: ${admin}/`,
    '  # what is live',
    `  curl -s ${admin}/v1/rules`,
    '',
    '',
  ].join('\n')
}

/** For a POSIX shell. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
