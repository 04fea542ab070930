/** The sizes that a body may have. */
export interface WireBounds {
  /** Characters of one text: a path, a header's value, a part of a key. Default 16,384. */
  readonly maxTextLength: number
  /** Entries of one map or list: headers, attributes, descriptors. Default 128. */
  readonly maxEntries: number
  /** Requests in a batch. Default 1,000. */
  readonly maxBatch: number
}

export const WIRE_BOUNDS: WireBounds = { maxTextLength: 16_384, maxEntries: 128, maxBatch: 1_000 }
