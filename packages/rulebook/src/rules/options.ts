import {
  type AlgorithmName,
  type AlgorithmSettings,
  algorithmOptions,
  algorithms,
  type Option,
} from '@sluice/limiter/algorithms'
import type { OnLimit, OnStoreError } from '@sluice/limiter/decide'
import type { LimitOptions } from '@sluice/limiter/rules'
import { z } from 'zod'
import { duration, type FieldsOf, mapOf, share, wholeField } from './fields.ts'

/** The options that both formats share, as files name them. */
export interface OptionsText extends AlgorithmSettings {
  readonly algorithm?: AlgorithmName
  readonly anchor?: string
  readonly on_limit?: OnLimit
  readonly mode?: 'enforce' | 'shadow'
  readonly on_store_error?: OnStoreError
  readonly soft?: number
  readonly block?: { readonly after: number; readonly within: number; readonly for: number }
  readonly blockable?: boolean
  readonly jitter?: number
  readonly spread?: boolean
  readonly retry_after?: 'seconds' | 'date'
  readonly tarpit?: number
  readonly lease?: number
  readonly assign?: 'rlqs'
}

/** A field for each option that any algorithm declares. */
const algorithmFields = Object.fromEntries(
  [...algorithmOptions].map(([name, { option, algorithms }]) => [
    name,
    schemaOf(option)
      .describe(`${algorithms.join(', ')}: ${option.about}`)
      .exactOptional(),
  ]),
) as FieldsOf<AlgorithmSettings>

function schemaOf(option: Option): z.ZodType {
  return option.type === 'whole' ? wholeField(option.least) : z.enum(option.words)
}

export const optionFields: FieldsOf<OptionsText> = {
  algorithm: z
    .enum(Object.keys(algorithms) as [AlgorithmName, ...AlgorithmName[]])
    .describe('How requests are counted.')
    .exactOptional(),
  ...algorithmFields,
  anchor: z
    .union([z.string(), z.int()])
    .transform(String)
    .describe('When in a calendar period its window opens: 02:30, 1 02:30 (Monday), 31 02:30, 02-29.')
    .exactOptional(),
  on_limit: z
    .enum(['deny', 'delay', 'deprioritize'])
    .describe(
      'What happens to a request over the limit. Default deny; delay goes with soft, or leaky-bucket.',
    )
    .exactOptional(),
  mode: z
    .enum(['enforce', 'shadow'])
    .describe('shadow decides and reports, and never refuses. Default enforce.')
    .exactOptional(),
  on_store_error: z
    .enum(['open', 'closed', 'local'])
    .describe(
      'While the store is slow or down: admit (open, the default), refuse (closed), or count in process.',
    )
    .exactOptional(),
  soft: share.describe('Share of the limit past which decisions are marked.').exactOptional(),
  block: mapOf({
    after: wholeField(1).describe('Refusals.'),
    within: duration.describe('In which time.'),
    for: duration.describe('For how long everything is then refused.'),
  })
    .describe('Refuses for a time after so many refusals.')
    .exactOptional(),
  blockable: z
    .boolean()
    .describe(
      'Lets operators block a key by hand, also without a block. A shared store is then always asked.',
    )
    .exactOptional(),
  jitter: share
    .describe('Share by which Retry-After is lengthened, differently for each key.')
    .exactOptional(),
  spread: z
    .boolean()
    .describe('Gives each key its own window phase, so that not all reset at once.')
    .exactOptional(),
  retry_after: z
    .enum(['seconds', 'date'])
    .describe('How Retry-After is written on refusals by this limit. Default: as the service says.')
    .exactOptional(),
  tarpit: duration.describe('For how long answers that refuse are held back, up to 1m.').exactOptional(),
  lease: wholeField(2)
    .describe(
      'Units that each node may take ahead from a shared store, to decide without asking. For hot keys.',
    )
    .exactOptional(),
  assign: z
    .enum(['rlqs'])
    .describe('rlqs: the service assigns parts of the limit to proxies, who decide by themselves.')
    .exactOptional(),
}

/** Options that the model has under another name than files. */
const RENAMED = { retry_after: 'retryAfter', lease: 'prefetch' } as const
/** Options that are in the model where files have them. */
const KEPT = [
  ...algorithmOptions.keys(),
  'soft',
  'block',
  'blockable',
  'jitter',
  'spread',
  'retry_after',
  'tarpit',
  'lease',
  'assign',
] as const

/** The model of the options among a rule's fields; `fallback` is the format's own algorithm. */
export function optionsOf(text: OptionsText, fallback: AlgorithmName): LimitOptions {
  const { algorithm = fallback, on_limit = 'deny', mode = 'enforce', on_store_error = 'open' } = text
  const options: Record<string, unknown> = {
    algorithm,
    onLimit: on_limit,
    mode,
    onStoreError: on_store_error,
  }
  for (const name of KEPT) {
    const value = text[name]
    if (value !== undefined) options[name in RENAMED ? RENAMED[name as keyof typeof RENAMED] : name] = value
  }
  return options as unknown as LimitOptions
}
