import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RulesWatcher, type WatchOptions } from './rules-watcher.ts'

let folder: string
let watcher: RulesWatcher | undefined
const changed = vi.fn()
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-watch-'))
  changed.mockClear()
})
afterEach(async () => {
  watcher?.close()
  await rm(folder, { recursive: true })
})

/** What is written within half a second is told at once, also where the machine stands still meanwhile. */
const EVENTS_ALONE: WatchOptions = { settleMs: 500, pollMs: 3_600_000 }

/** Watches, and waits for the call with which every watcher begins. */
async function watching(path: string, options = EVENTS_ALONE): Promise<void> {
  watcher = new RulesWatcher([path], changed, options)
  await called(1)
}

async function called(times: number): Promise<void> {
  await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(times), { timeout: 60_000, interval: 5 })
}

test('a file that is written, replaced or removed is told once each', async () => {
  const file = join(folder, 'a.yaml')
  await writeFile(file, 'one')
  await watching(folder)
  await writeFile(file, 'more')
  await called(2)
  await writeFile(join(folder, 'next'), 'another')
  await rename(join(folder, 'next'), file)
  await called(3)
  await rm(file)
  await called(4)
})

test('a file that is watched by itself may be replaced', async () => {
  const file = join(folder, 'a.yaml')
  await writeFile(file, 'one')
  await watching(file)
  await writeFile(join(folder, 'next'), 'another')
  await rename(join(folder, 'next'), file)
  await called(2)
})

test('folders that come later are watched too', async () => {
  await watching(folder)
  await mkdir(join(folder, 'below'))
  await writeFile(join(folder, 'below', 'a.yaml'), 'one')
  await called(2)
  await writeFile(join(folder, 'below', 'a.yaml'), 'two!')
  await called(3)
})

test('a link that is swapped, as mounted configuration is, is a change', async () => {
  for (const version of ['..1', '..2']) {
    await mkdir(join(folder, version))
    await writeFile(join(folder, version, 'a.yaml'), version)
  }
  await symlink('..1', join(folder, '..data'))
  await symlink('..data/a.yaml', join(folder, 'a.yaml'))
  await watching(folder)
  await symlink('..2', join(folder, '..next'))
  await rename(join(folder, '..next'), join(folder, '..data'))
  await called(2)
})

test('a folder that links to itself is looked through once', async () => {
  await symlink('.', join(folder, 'one'))
  await symlink('.', join(folder, 'two'))
  await watching(folder)
  await writeFile(join(folder, 'a.yaml'), 'one')
  await called(2)
})

test('without any event, looking finds the change', async () => {
  const away = join(folder, 'away', 'a.yaml')
  await watching(away, { settleMs: 5, pollMs: 20 })
  await mkdir(join(folder, 'away'))
  await writeFile(away, 'one')
  await vi.waitFor(() => expect(changed.mock.calls.length).toBeGreaterThan(1), { timeout: 60_000 })
})

test('closed, it tells nothing more', async () => {
  await watching(folder)
  watcher!.close()
  await writeFile(join(folder, 'a.yaml'), 'one')
  const other = vi.fn()
  const proof = new RulesWatcher([folder], other, EVENTS_ALONE)
  await vi.waitFor(() => expect(other).toHaveBeenCalled(), 60_000)
  proof.close()
  expect(changed).toHaveBeenCalledTimes(1)
})
