/** A record's own entry as text, never one of its prototype's; empty for a number that is none. */
export function ownText(
  record: Readonly<Record<string, unknown>> | undefined,
  name: string,
): string | undefined {
  if (record === undefined || !Object.hasOwn(record, name)) return undefined
  const value = record[name]
  if (typeof value === 'string') return value
  if (typeof value !== 'number') return undefined
  return Number.isFinite(value) ? String(value) : ''
}

/** The first cookie of that name, percent-decoded as applications read it; malformed escapes stay as they are. */
export function cookieValue(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=')
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue
    return decoded(unquoted(pair.slice(equals + 1).trim()))
  }
  return undefined
}

function unquoted(value: string): string {
  return value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/** A host without its port and trailing dot, in lower case: `API.Example.com.:8443` is `api.example.com`. */
export function hostName(host: string): string {
  return host.trim().replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
}
