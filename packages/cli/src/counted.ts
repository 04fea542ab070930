/** `1 limit`, `1,000 limits`. */
export function counted(value: number, noun: string): string {
  return `${grouped(value)} ${noun}${value === 1 ? '' : 's'}`
}

/** `1,000`, wherever this runs. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US')
}
