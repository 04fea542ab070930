/** A variable that is made of another: lines of nginx's configuration. Values are trusted; patterns are quoted. */
export function mapLines(source: string, name: string, pairs: readonly string[]): string[] {
  return [`map "${source}" ${name} {`, ...pairs.map((pair) => `  ${pair};`), '}']
}

/** 1 for addresses inside (or, `outside`, for all others), else 0. */
export function geoLines(networks: readonly string[], name: string, outside = false): string[] {
  const [inside, others] = outside ? ['0', '1'] : ['1', '0']
  return [`geo ${name} {`, `  default ${others};`, ...networks.map((each) => `  ${each} ${inside};`), '}']
}

/** A regular expression as the key of a map, anchored at both ends. */
export function pattern(expression: string, flags: '~' | '~*' = '~'): string {
  const text = `${flags}^${expression}\\z`
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}

/**
 * The client's network, as bytes: IPv4-mapped and NAT64 addresses as the IPv4 inside, so that behind a socket for both
 * versions not all of IPv4 is one client. The first byte tells the versions apart.
 */
export function networkMap(v4: number, v6: number): string[] {
  const name = networkVariable(v4, v6)
  const [four, six] = [v4 / 8, v6 / 8]
  const take = (letter: string, bytes: number, of: number): string =>
    `(?<${name.slice(1)}_${letter}>.{${bytes}})${of > bytes ? `.{${of - bytes}}` : ''}`
  const pairs = [
    `${pattern(`(?s)${take('x', four, 4)}`)} "4${name}_x"`,
    `${pattern(`(?s)\\x00{10}\\xff\\xff${take('y', four, 4)}`)} "4${name}_y"`,
    `${pattern(`(?s)\\x00\\x64\\xff\\x9b\\x00{8}${take('z', four, 4)}`)} "4${name}_z"`,
    `${pattern(`(?s)${take('w', six, 16)}`)} "6${name}_w"`,
  ]
  return mapLines('$binary_remote_addr', name, ['default ""', ...pairs])
}

export function networkVariable(v4: number, v6: number): string {
  return `$sluice_ip_${v4}_${v6}`
}
