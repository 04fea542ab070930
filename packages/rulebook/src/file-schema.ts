import { z } from 'zod'
import { descriptorSchema } from './rules/descriptors.ts'
import { mapOf, type Word, word } from './rules/fields.ts'
import { limitSchema } from './rules/limits.ts'
import { networkLimitSchema } from './rules/network.ts'

/** As requests may name it. */
const domainName: z.ZodType<Word> = word.refine(
  (domain) => /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,256}$/u.test(String(domain)),
  { error: 'must be 1 to 256 characters, without control characters' },
)

/** What a file holds. */
export const fileSchema: z.ZodType<unknown> = fileOf(limitSchema, descriptorSchema, networkLimitSchema)
/** The same without its lists, which are read item by item, so that one mistake hides no other. */
export const frameSchema: z.ZodType<Frame<unknown, unknown, unknown>> = fileOf(
  z.unknown(),
  z.unknown(),
  z.unknown(),
)

function fileOf<L, D, N>(
  limit: z.ZodType<L>,
  descriptor: z.ZodType<D>,
  network: z.ZodType<N>,
): z.ZodType<Frame<L, D, N>> {
  return mapOf({
    domain: domainName.describe('Namespace of the rules; callers name it.'),
    limits: z.array(limit).min(1).describe('Named limits over the attributes of requests.').exactOptional(),
    descriptors: z
      .array(descriptor)
      .nullable()
      .describe('Limits in envoyproxy/ratelimit’s format.')
      .exactOptional(),
    network: z
      .array(network)
      .min(1)
      .describe('Limits for a firewall, by port and address: exported, not decided by the service.')
      .exactOptional(),
  })
}

interface Frame<L, D, N> {
  readonly domain: Word
  readonly limits?: readonly L[]
  readonly descriptors?: readonly D[] | null
  readonly network?: readonly N[]
}
