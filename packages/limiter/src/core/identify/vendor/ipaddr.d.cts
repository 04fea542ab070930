/** As much of ipaddr.js 2.5.0 (MIT, see LICENSE) as is used here; ipaddr.cjs is its unmodified build. */
declare const ipaddr: {
  readonly IPv6: {
    /** @throws Error when the text is no IPv6 address. */
    parse(text: string): IPv6
    new (parts: readonly number[]): IPv6
  }
}

interface IPv6 {
  /** Eight groups of 16 bits. */
  readonly parts: readonly number[]
  toRFC5952String(): string
}

export = ipaddr
