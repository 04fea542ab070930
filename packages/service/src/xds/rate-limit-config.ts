import type { FileBytes } from '@sluice/rulebook'
import { type StructMessage, UNITS } from '../rls/messages.ts'
import { jsonOfStruct } from '../rls/struct.ts'

/** `ratelimit.config.ratelimit.v3.RateLimitConfig`: the rules of a domain. */
export interface RateLimitConfig {
  readonly name?: string
  readonly domain?: string
  readonly descriptors?: readonly ConfigDescriptor[]
}

interface ConfigDescriptor {
  readonly key?: string
  readonly value?: string
  readonly rate_limit?: {
    readonly unit?: number
    readonly requests_per_unit?: number
    readonly unlimited?: boolean
    readonly name?: string
    readonly replaces?: readonly { readonly name?: string }[]
  }
  readonly descriptors?: readonly ConfigDescriptor[]
  readonly shadow_mode?: boolean
  readonly quota_mode?: boolean
  readonly detailed_metric?: boolean
  readonly metadata?: StructMessage
}

/** The same as a file of the rulebook, so that it is checked like one; `undefined` for one without rules. */
export function fileOfConfig({
  name = '',
  domain = '',
  descriptors = [],
}: RateLimitConfig): FileBytes | undefined {
  if (descriptors.length === 0) return undefined
  const text = JSON.stringify({ domain, descriptors: descriptors.map(descriptorText) }, null, 1)
  return { path: `xds:${name === '' ? domain : name}`, bytes: Buffer.from(text) }
}

function descriptorText(descriptor: ConfigDescriptor): object {
  const { key = '', value = '', rate_limit, descriptors = [], metadata, ...flags } = descriptor
  return {
    key,
    ...(value !== '' && { value }),
    ...(rate_limit && { rate_limit: limitText(rate_limit) }),
    ...flags,
    ...(metadata && { metadata: jsonOfStruct(metadata) }),
    ...(descriptors.length > 0 && { descriptors: descriptors.map(descriptorText) }),
  }
}

function limitText(limit: NonNullable<ConfigDescriptor['rate_limit']>): object {
  const { unit = 0, requests_per_unit = 0, unlimited = false, name = '', replaces = [] } = limit
  return {
    ...(unlimited ? { unlimited } : { requests_per_unit }),
    ...(unit !== 0 && { unit: UNITS[unit] ?? String(unit) }),
    ...(name !== '' && { name }),
    ...(replaces.length > 0 && { replaces: replaces.map((one) => ({ name: one.name ?? '' })) }),
  }
}
