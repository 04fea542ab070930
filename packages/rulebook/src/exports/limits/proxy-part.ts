/** A part of a key that a proxy can read. */
export type ProxyPart =
  | { readonly kind: 'ip'; readonly v4: number; readonly v6: number }
  | { readonly kind: 'header' | 'cookie'; readonly name: string }
  | { readonly kind: 'method' | 'host' }

const PART = /^([a-z-]+)(?:\/(\d+)(?:\/(\d+))?)?(?::([A-Za-z0-9_-]+))?$/

/** Reads a part as rules write it. Gives the reason, as text, where no proxy could count alike. */
export function proxyPart(text: string): ProxyPart | string {
  const [, kind, first, second, name] = PART.exec(text) ?? []
  switch (kind) {
    case 'ip': {
      const alone = second === undefined && Number(first ?? 0) > 32
      const v4 = alone ? 32 : Number(first ?? 32)
      return { kind, v4, v6: Number(second ?? (alone ? first : 64)) }
    }
    case 'header':
    case 'cookie':
      return name === undefined ? unreadable(text) : { kind, name }
    case 'method':
    case 'host':
      return { kind }
    case 'path':
    case 'query':
    case 'param':
      return `it counts by ${JSON.stringify(text)}, which has many spellings there: each would have a count of its own`
    default:
      return unreadable(text)
  }
}

function unreadable(text: string): string {
  return `it counts by ${JSON.stringify(text)}, which a proxy cannot read`
}
