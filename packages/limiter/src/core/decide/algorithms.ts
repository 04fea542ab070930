import { ConfigError } from '../errors.ts'
import type { Algorithm, Plan } from './algorithm.ts'
import { concurrency } from './concurrency/concurrency.ts'
import { fixedWindow } from './fixed-window/fixed-window.ts'
import { gcra } from './gcra/gcra.ts'
import { leakyBucket } from './leaky-bucket/leaky-bucket.ts'
import type { AlgorithmName, Policy } from './policy.ts'
import { slidingWindowCounter } from './sliding-window-counter/sliding-window-counter.ts'
import { slidingWindowLog } from './sliding-window-log/sliding-window-log.ts'
import { tokenBucket } from './token-bucket/token-bucket.ts'

/** Every algorithm by its name. A new one is a folder beside this file and a line here. */
export const algorithms: Readonly<Record<AlgorithmName, Algorithm>> = {
  'token-bucket': tokenBucket,
  gcra,
  'leaky-bucket': leakyBucket,
  'fixed-window': fixedWindow,
  'sliding-window-log': slidingWindowLog,
  'sliding-window-counter': slidingWindowCounter as Algorithm,
  concurrency,
}

/** Validates a policy and turns it into integers, once. @throws ConfigError */
export function planOf(policy: Policy): Plan {
  if (!Object.hasOwn(algorithms, policy.algorithm)) {
    throw new ConfigError(
      `no algorithm is named ${JSON.stringify(policy.algorithm)}; there are ${Object.keys(algorithms).join(', ')}`,
    )
  }
  return { ...algorithms[policy.algorithm].plan(policy), source: policy }
}
