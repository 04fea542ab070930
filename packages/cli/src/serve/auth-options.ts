import { parseCidr } from '@sluice/limiter/address'
import { ticksOf } from '@sluice/limiter/time'
import type { AuthOptions } from '@sluice/service'
import { UsageError } from '../usage-error.ts'
import { STORE_DEADLINE_MS } from './grpc-options.ts'

interface AuthValues {
  readonly trusted?: readonly string[] | undefined
  readonly 'auth-deadline'?: string | undefined
}

/**
 * The service's options for `/auth`.
 * @param warn is called for a deadline that has no effect
 * @throws UsageError for what is no network, or no time
 */
export function authOptions(
  { trusted, 'auth-deadline': deadline }: AuthValues,
  warn: (message: string) => void,
): AuthOptions {
  const wrong = trusted?.find((network) => parseCidr(network) === undefined)
  if (wrong !== undefined)
    throw new UsageError(
      `--trusted ${JSON.stringify(wrong)} is no address or CIDR: write 127.0.0.1, or 10.0.0.0/8`,
    )
  return {
    ...(trusted !== undefined && { trusted }),
    ...(deadline !== undefined && { deadline: checkedDeadline(deadline, warn) }),
  }
}

function checkedDeadline(text: string, warn: (message: string) => void): string {
  let ms: number
  try {
    ms = ticksOf(text) / 1_000
  } catch {
    throw new UsageError(`--auth-deadline ${JSON.stringify(text)} is not a time: write 20ms`)
  }
  if (ms > STORE_DEADLINE_MS)
    warn(
      `--auth-deadline ${text} has no effect: a store that does not answer within ${STORE_DEADLINE_MS} ms is not waited for`,
    )
  return text
}
