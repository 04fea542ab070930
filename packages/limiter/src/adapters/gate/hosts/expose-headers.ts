/** The header that lets scripts of other origins read headers, with these added to those that it lists already. */
export function exposedWith(present: unknown, more: string): [name: string, value: string] {
  const listed = typeof present === 'string' && present !== '' ? `${present}, ` : ''
  return ['Access-Control-Expose-Headers', listed + more]
}
