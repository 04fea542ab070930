/** Messages of Envoy's rate limit API, as `proto/` names their fields. Fields that are not there are not set. */
export interface RateLimitRequest {
  readonly domain?: string
  readonly descriptors?: readonly RateLimitDescriptor[]
  /** Of descriptors without one of their own; 0 is 1. */
  readonly hits_addend?: number
}

export interface RateLimitDescriptor {
  readonly entries?: readonly { readonly key?: string; readonly value?: string }[]
  readonly limit?: { readonly requests_per_unit?: number; readonly unit?: number }
  /** Present without a value it is 0, which only looks. */
  readonly hits_addend?: { readonly value?: number }
  readonly is_negative_hits?: boolean
}

/** `RateLimitResponse.Code`. */
export const CODE = { OK: 1, OVER_LIMIT: 2 } as const
export type Code = (typeof CODE)[keyof typeof CODE]

/** `RateLimitResponse.RateLimit.Unit`; that of limits which requests bring is the same, without weeks. */
export const UNITS: readonly string[] = [
  'unknown',
  'second',
  'minute',
  'hour',
  'day',
  'month',
  'year',
  'week',
]

export interface CurrentLimit {
  readonly requests_per_unit: number
  readonly unit: number
  readonly name?: string
  readonly unit_multiplier?: { readonly value: number }
}

export interface DescriptorStatusMessage {
  readonly code: Code
  readonly current_limit?: CurrentLimit
  readonly limit_remaining: number
  readonly duration_until_reset?: { readonly seconds: number; readonly nanos: number }
}

export interface HeaderValue {
  readonly key: string
  readonly value: string
}

export interface RateLimitResponse {
  readonly overall_code: Code
  readonly statuses: readonly DescriptorStatusMessage[]
  readonly response_headers_to_add: readonly HeaderValue[]
  readonly request_headers_to_add: readonly HeaderValue[]
  readonly dynamic_metadata?: StructMessage
}

/** `google.protobuf.Struct`: its map is a list of entries, as it is sent. */
export interface StructMessage {
  readonly fields: readonly { readonly key: string; readonly value: ValueMessage }[]
}

export type ValueMessage =
  | { readonly null_value: 0 }
  | { readonly number_value: number }
  | { readonly string_value: string }
  | { readonly bool_value: boolean }
  | { readonly struct_value: StructMessage }
  | { readonly list_value: { readonly values: readonly ValueMessage[] } }
