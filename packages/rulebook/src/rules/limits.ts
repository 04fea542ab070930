import {
  assignErrors,
  keyLookup,
  type Limit,
  type OnMissingKey,
  type PlanQuota,
  parsePart,
  type Quota,
  type When,
} from '@sluice/limiter/rules'
import { z } from 'zod'
import { type FileSource, type Path, positionOf, type Reporter } from '../syntax/source.ts'
import { type FieldsOf, mapOf, quota, readWith, text, wholeField } from './fields.ts'
import { parseCostSource, parseKeyPart } from './key-part.ts'
import { type OptionsText, optionFields, optionsOf } from './options.ts'
import { collect, type QuotaReader, quotaReader } from './quota-reader.ts'
import { whenSchema } from './when.ts'

/** A limit as files write it, its texts read. */
export interface LimitText extends OptionsText {
  readonly name: string
  readonly when?: When
  readonly key: readonly string[]
  readonly limit: Quota | PlanQuota
  readonly cost?: number | string
  readonly on_missing_key?: OnMissingKey
  readonly exempt?: readonly string[]
  readonly overrides?: Limit['overrides']
  readonly replaces?: readonly string[]
}

export const RULE_NAME: RegExp = /^[ -~]{1,64}$/

export const ruleName: z.ZodType<string> = z
  .string()
  .regex(RULE_NAME, { error: 'must be 1 to 64 printable ASCII characters' })

const ownFields = {
  limit: quota.describe('Units per period, such as 100/hour.'),
  burst: wholeField(1).describe('Capacity of a bucket, where it is not the rule’s.').exactOptional(),
}

/** A quota, or one with a burst of its own. */
const ownQuota: z.ZodType<Quota> = z.union(
  [quota, mapOf(ownFields).transform(({ limit, ...burst }) => ({ ...limit, ...burst }))],
  { error: 'must be COUNT/PERIOD, such as 5/minute, or a map of limit and burst' },
)

const planQuota: z.ZodType<PlanQuota> = z
  .object({
    by: z
      .string()
      .regex(/^[^:]+$/, { error: 'must be the name of an attribute, such as plan' })
      .describe('The attribute that names the plan.'),
    otherwise: ownQuota.describe('For every other plan, and for none.'),
  })
  .catchall(ownQuota)
  .transform(({ by, otherwise, ...plans }) => ({ by, plans: plans as Record<string, Quota>, otherwise }))

const limitFields: FieldsOf<LimitText> = {
  name: ruleName.describe('Names the limit in headers, metrics and logs; once in a domain.'),
  when: whenSchema.describe('Which requests the limit is for; without it, every request.').exactOptional(),
  key: z
    .array(readWith('must be a part of a key, such as ip', parseKeyPart))
    .refine((parts) => new Set(parts).size === parts.length, { error: 'the key has a part twice' })
    .describe(
      'What is counted separately, such as [ip] or [tenant, "header:x-model"]; [] counts all together.',
    ),
  limit: z
    .union([quota, planQuota], { error: 'must be COUNT/PERIOD, such as 5/minute, or a map of plans' })
    .describe('Units per period, such as 5/minute or 300/3h; or one for each plan.'),
  ...optionFields,
  cost: z
    .union([wholeField(0), readWith('must be a number', parseCostSource)], {
      error: 'must be a number, header:NAME or attribute:NAME',
    })
    .describe('What a request takes: a number, header:NAME or attribute:NAME. Default 1.')
    .exactOptional(),
  on_missing_key: z
    .enum(['skip', 'share', 'deny'])
    .describe(
      'For a request that lacks a part of the key: no limit (skip, the default), one bucket for all, or refusal.',
    )
    .exactOptional(),
  exempt: z.array(text).describe('CIDRs or key values that are not limited.').exactOptional(),
  overrides: z
    .array(
      mapOf({ match: text.describe('A CIDR or a key value.'), ...ownFields }).transform(
        ({ match, limit, ...burst }) => ({ match, quota: { ...limit, ...burst } }),
      ),
    )
    .describe('CIDRs or key values with a limit of their own; the first that matches counts.')
    .exactOptional(),
  replaces: z
    .array(ruleName)
    .describe('Names of limits that this one replaces, when both match.')
    .exactOptional(),
}

export const limitSchema: z.ZodType<LimitText> = mapOf(limitFields)

/** The model of a limit that its schema accepted. Reports whatever else is wrong with it; `path` is its own. */
export function limitOf(written: LimitText, source: FileSource, path: Path, report: Reporter): Limit {
  const { name, when, key, limit, cost = 1, on_missing_key = 'skip' } = written
  const { exempt = [], overrides = [], replaces = [], anchor } = written
  const options = optionsOf(written, 'token-bucket')
  const units = typeof cost === 'number' ? cost : 0
  const finish = quotaReader({ options, anchor, cost: units, source, base: path }, report)
  checkCallers(written, path, report)
  for (const error of assignErrors({ ...options, cost, key })) {
    report([...path, ...(error.path ?? [])], error.message)
  }
  return {
    name,
    ...(when !== undefined && { when }),
    key,
    limit:
      'by' in limit
        ? finishPlans(limit, finish, [...path, 'limit'], report)
        : finish(limit, [...path, 'limit']),
    ...options,
    cost,
    onMissingKey: on_missing_key,
    exempt,
    overrides: overrides.map(({ match, quota }, index) => {
      const base = [...path, 'overrides', index]
      return { match, quota: finish(quota, [...base, 'limit'], base) }
    }),
    replaces,
    source: positionOf(source, path),
  }
}

function finishPlans(
  { by, plans, otherwise }: PlanQuota,
  finish: QuotaReader,
  path: Path,
  report: Reporter,
): PlanQuota {
  if (Object.hasOwn(plans, '')) {
    report([...path, ''], 'a plan without a name can never match', { part: 'key' })
  }
  return {
    by,
    plans: Object.fromEntries(
      Object.entries(plans).map(([plan, own]) => [plan, finish(own, [...path, plan])]),
    ),
    otherwise: finish(otherwise, [...path, 'otherwise']),
  }
}

/** Reports exempt or overridden callers that the rule could never apply to. */
function checkCallers({ key, exempt = [], overrides = [] }: LimitText, path: Path, report: Reporter): void {
  if (exempt.length + overrides.length === 0) return
  const parts = key.map((part) => parsePart(part))
  const callers = [
    ...exempt.map((text, index) => ({ text, at: [...path, 'exempt', index] })),
    ...overrides.map(({ match }, index) => ({ text: match, at: [...path, 'overrides', index, 'match'] })),
  ]
  for (const { text, at } of callers) collect(() => keyLookup([[text, true]], parts), at, report)
}
