/** The platform's timers, or what replaces them in tests. */
export interface Timers {
  setTimeout(go: () => void, ms: number): unknown
  clearTimeout(timer: never): void
}
