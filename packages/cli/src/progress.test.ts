import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { startProgress } from './progress.ts'

function shown(isTTY: boolean, size: number | undefined): string {
  const terminal = Object.assign(new PassThrough(), { isTTY })
  const progress = startProgress(size, terminal)
  progress.add(2)
  progress.add(2)
  progress.stop()
  return String(terminal.read() ?? '')
}

describe('progress', () => {
  it('is shown on a terminal, where it is known how much there is', () => {
    expect(shown(true, 4)).toMatch(/100 %, \S+ left/)
    expect(shown(true, undefined)).toBe('')
    expect(shown(false, 4)).toBe('')
  })
})
