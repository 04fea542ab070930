/** The fields that every format may have, in the order of their places; attributes of a log's own come behind them. */
export const FIELDS = [
  'ip',
  'method',
  'target',
  'query',
  'host',
  'user',
  'status',
  'bytes',
  'referer',
  'user-agent',
] as const

/** The place of each. */
export const PLACE: Readonly<Record<(typeof FIELDS)[number], number>> = {
  ip: 0,
  method: 1,
  target: 2,
  query: 3,
  host: 4,
  user: 5,
  status: 6,
  bytes: 7,
  referer: 8,
  'user-agent': 9,
}

/**
 * Where the fields of a line are among its bytes: one object for all lines of a file, since making text of what no rule
 * asks for would take longer than the decision.
 */
export class LineFields {
  bytes: Buffer = Buffer.alloc(0)
  /** Where each field begins; −1: the line has none. */
  readonly from: Int32Array
  readonly to: Int32Array
  /** When the request arrived, microseconds since the epoch. */
  at = 0
  /** How long it took, microseconds; −1: not known. */
  duration = -1

  constructor(places: number) {
    this.from = new Int32Array(places)
    this.to = new Int32Array(places)
  }

  clear(bytes: Buffer): void {
    this.bytes = bytes
    this.from.fill(-1)
    this.duration = -1
  }

  set(place: number, from: number, to: number): void {
    this.from[place] = from
    this.to[place] = to
  }

  /** As {@link set}, but nothing where the field is empty or `-`. */
  setGiven(place: number, from: number, to: number): void {
    if (to > from && !(to === from + 1 && this.bytes[from] === DASH)) this.set(place, from, to)
  }
}

const DASH = 45
