import { expect } from 'vitest'
import type { ServiceBench } from '../testing.ts'

/** Samples by name and labels, of a text in which every line is one, or a comment. */
export async function scrape({ admin }: Pick<ServiceBench, 'admin'>): Promise<Map<string, number>> {
  const { statusCode, headers, body } = await admin.inject({ method: 'GET', url: '/metrics' })
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  const samples = new Map<string, number>()
  for (const line of body.trimEnd().split('\n')) {
    if (line === '' || /^# (?:HELP|TYPE) [a-zA-Z_]\w* .+$/.test(line)) continue
    const [, name, value] =
      /^([a-zA-Z_]\w*(?:\{(?:[a-z_]\w*="(?:[^"\\]|\\.)*",?)+\})?) (\S+)$/i.exec(line) ?? []
    expect(name, line).toBeDefined()
    samples.set(name!, Number(value))
  }
  return samples
}
