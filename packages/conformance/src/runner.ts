/** What a suite needs of a test runner: those of vitest, of jest and of `node:test` all do. */
export interface Runner {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => void | Promise<void>, timeoutMs?: number): unknown
}
