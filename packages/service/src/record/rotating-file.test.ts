import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { RotatingFile, type RotatingFileOptions } from './rotating-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-rotating-'))
afterAll(() => rmSync(folder, { recursive: true }))

function make(name: string, options: Partial<RotatingFileOptions> = {}) {
  const path = join(folder, name)
  const drops: [number, string][] = []
  const file = new RotatingFile({
    file: path,
    maxBytes: 20,
    maxFiles: 3,
    onDrop: (lines, reason) => drops.push([lines, reason]),
    ...options,
  })
  const text = (place = 0): string => readFileSync(place === 0 ? path : `${path}.${place}`, 'utf8')
  return { path, file, drops, text }
}

describe('a file that rotates', () => {
  it('keeps the last lines in so many files of such a size', async () => {
    const { path, file, text, drops } = make('a')
    for (let i = 0; i < 10; i++) file.write(`line-${i}-`)
    await file.end()
    expect([text(0), text(1), text(2)]).toEqual([
      'line-8-\nline-9-\n',
      'line-6-\nline-7-\n',
      'line-4-\nline-5-\n',
    ])
    expect(existsSync(`${path}.3`)).toBe(false)
    expect({ written: file.written, drops }).toEqual({ written: 10, drops: [] })
  })

  it('goes on at the end of the file that is there, and may keep one alone', async () => {
    writeFileSync(join(folder, 'b'), '0123456789ab\n')
    const { path, file, text } = make('b', { maxFiles: 1 })
    file.write('short')
    await file.end()
    expect(text()).toBe('0123456789ab\nshort\n')
    file.write('longer')
    await file.end()
    expect(text()).toBe('longer\n')
    expect(existsSync(`${path}.1`)).toBe(false)
  })

  it('writes a line that is longer than a file by itself', async () => {
    const { file, text } = make('c')
    for (const line of ['a', 'x'.repeat(30), 'b']) file.write(line)
    await file.end()
    expect([text(0), text(1), text(2)]).toEqual(['b\n', `${'x'.repeat(30)}\n`, 'a\n'])
  })

  it('drops what has no room to wait, and says so at once', async () => {
    const { file, drops, text } = make('d', { maxBytes: 1_000, maxWaiting: 10 })
    for (const line of ['12345678', 'no', 'room']) file.write(line)
    expect(drops).toEqual([
      [1, 'the disk is too slow'],
      [1, 'the disk is too slow'],
    ])
    await file.end()
    expect(text()).toBe('12345678\n')
  })

  it('drops what the disk does not take, and goes on when it does again', async () => {
    const { path, file, drops, text } = make('e/f', { maxBytes: 1_000 })
    file.write('lost')
    await file.end()
    expect(drops).toEqual([[1, expect.stringContaining('ENOENT')]])
    mkdirSync(join(path, '..'))
    file.write('kept')
    await file.end()
    expect(text()).toBe('kept\n')
    expect({ written: file.written, drops: drops.length }).toEqual({ written: 1, drops: 1 })
  })

  it('drops lines on a full disk, which is what /dev/full is', async () => {
    const { file, drops } = make('unused', { file: '/dev/full' })
    file.write('one')
    file.write('two')
    await file.end()
    expect(drops.reduce((sum, [lines]) => sum + lines, 0)).toBe(2)
    expect(drops[0]![1]).toMatch(/ENOSPC/)
  })
})
