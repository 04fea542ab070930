import type { Descriptor } from '@sluice/limiter/rules'
import { z } from 'zod'
import type { LoadOptions } from '../load-options.ts'
import { quoted } from '../mistake.ts'
import { type FileSource, nodeAt, type Path, positionOf, type Reporter, scalarAt } from '../syntax/source.ts'
import type { TreeNode } from '../syntax/tree.ts'
import { type FieldsOf, mapOf, type Word, word } from './fields.ts'
import { type RateLimitText, rateLimitOf, rateLimitSchema } from './rate-limit.ts'

/** A descriptor as files write it. */
export interface DescriptorText {
  readonly key: Word
  readonly value?: Word | null
  readonly rate_limit?: RateLimitText | null
  readonly shadow_mode?: boolean
  readonly quota_mode?: boolean
  readonly detailed_metric?: boolean
  readonly value_to_metric?: boolean
  readonly share_threshold?: boolean
  readonly metadata?: unknown
  readonly descriptors?: readonly DescriptorText[] | null
}

const flag = z.boolean()

const descriptorFields: FieldsOf<DescriptorText> = {
  key: word.describe('The key of a request’s entry.'),
  value: z
    .union([z.literal(''), word, z.null()], { error: 'must be text' })
    .describe('Its value, or a pattern in which * is any run of characters; without it, any value.')
    .exactOptional(),
  rate_limit: rateLimitSchema
    .nullable()
    .describe('Without it, who matches is not limited here.')
    .exactOptional(),
  shadow_mode: flag.describe('Counts and reports, and never refuses.').exactOptional(),
  quota_mode: flag.describe('Refuses only when every quota of the request does.').exactOptional(),
  detailed_metric: flag.describe('Metrics have the values of every level in their names.').exactOptional(),
  value_to_metric: flag.describe('Metrics have this level’s value in their names.').exactOptional(),
  share_threshold: flag.describe('Whatever matches the pattern shares one counter.').exactOptional(),
  metadata: z.unknown().describe('Handed back in answers to requests that pass.').exactOptional(),
  descriptors: z
    .array(z.lazy(() => descriptorSchema))
    .nullable()
    .describe('What the next entry of the request is held against.')
    .exactOptional(),
}

export const descriptorSchema: z.ZodType<DescriptorText> = mapOf(descriptorFields).meta({ id: 'descriptor' })

/** The model of a descriptor that its schema accepted. Reports whatever else is wrong with it; `path` is its own. */
export function descriptorOf(
  written: DescriptorText,
  source: FileSource,
  path: Path,
  report: Reporter,
  options: LoadOptions,
): Descriptor {
  const key = scalarAt(source, [...path, 'key'])
  const value = scalarAt(source, [...path, 'value'])
  const metadata = nodeAt(source, [...path, 'metadata'])
  const { rate_limit, share_threshold = false, descriptors } = written
  for (const flag of ['shadow_mode', 'quota_mode'] as const) {
    if (written[flag] !== true) continue
    if (rate_limit?.lease !== undefined)
      report([...path, 'rate_limit', 'lease'], `a lease does not go with ${flag}`)
    if (rate_limit?.assign !== undefined)
      report([...path, 'rate_limit', 'assign'], `assigning does not go with ${flag}: proxies refuse`)
  }
  if (share_threshold && !`${key}${value}`.includes('*')) {
    const label = value === '' ? key : `${key}_${value}`
    report(
      [...path, 'share_threshold'],
      `share_threshold needs a value with *, and ${quoted(label)} has none`,
    )
  }
  return {
    key,
    ...(value !== '' && { value }),
    ...(rate_limit && {
      rateLimit: rateLimitOf(rate_limit, source, [...path, 'rate_limit'], report, options),
    }),
    shadowMode: written.shadow_mode ?? false,
    quotaMode: written.quota_mode ?? false,
    detailedMetric: written.detailed_metric ?? false,
    valueToMetric: written.value_to_metric ?? false,
    shareThreshold: share_threshold,
    ...(metadata !== undefined && { metadata: jsonOf(metadata, [...path, 'metadata'], report) }),
    descriptors: (descriptors ?? []).map((child, index) =>
      descriptorOf(child, source, [...path, 'descriptors', index], report, options),
    ),
    source: positionOf(source, path),
  }
}

/** As it will be sent, so only what JSON can say. */
function jsonOf({ children, value, scalar }: TreeNode, path: Path, report: Reporter): unknown {
  if (children === undefined) {
    const isJson = typeof scalar !== 'number' || Number.isFinite(scalar)
    if (!isJson) report(path, 'metadata must be JSON, which has no such number')
    return scalar
  }
  const entries = [...children].map(
    ([name, child]) => [name, jsonOf(child, [...path, name], report)] as const,
  )
  return Array.isArray(value) ? entries.map(([, child]) => child) : Object.fromEntries(entries)
}
