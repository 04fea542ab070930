import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { withProgress } from './progress.ts'

async function read(isTTY: boolean, size: number | undefined): Promise<{ bytes: string; shown: string }> {
  const terminal = Object.assign(new PassThrough(), { isTTY })
  const input = { name: 'log', size, bytes: Readable.from([Buffer.from('ab'), Buffer.from('cd')]) }
  const chunks: Buffer[] = []
  for await (const chunk of withProgress(input, terminal)) chunks.push(chunk)
  return { bytes: Buffer.concat(chunks).toString(), shown: String(terminal.read() ?? '') }
}

describe('progress', () => {
  it('is shown on a terminal, where it is known how much there is', async () => {
    expect(await read(true, 4)).toEqual({ bytes: 'abcd', shown: expect.stringMatching(/100 %/) })
    expect(await read(true, undefined)).toEqual({ bytes: 'abcd', shown: '' })
    expect(await read(false, 4)).toEqual({ bytes: 'abcd', shown: '' })
  })
})
