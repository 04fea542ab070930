import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryStore } from '@sluice/limiter'
import { FakeClock } from '@sluice/limiter/testing'
import { createService, type Service } from '@sluice/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../packages/limiter/src/stores/redis/server.test-support.ts'
import { type Block, fileOf, isProgram, needsRedis, type Page, pages, placeOf, REDIS, ROOT } from './page.ts'
import { programOf } from './program.ts'
import { removeSamples, runSample } from './sample.ts'
import { dialoguesOf, outputsOf } from './shell.ts'

describe.each(pages().filter((page) => dialoguesOf(page).length > 0))('$path', (page) => {
  const dialogues = dialoguesOf(page)
  const clock = new FakeClock()
  let service: Service
  let redis: RedisServer | undefined
  let outputs: readonly string[]

  beforeAll(async () => {
    service = createService({
      rules: [join(ROOT, 'examples/rulebook')],
      watch: false,
      store: new MemoryStore(isWhole(page) ? {} : { clock }),
      ...(!isWhole(page) && { wallClock: () => clock.now() / 1_000 }),
      http: '127.0.0.1:0',
      admin: '127.0.0.1:0',
      log: { level: 'silent' },
    })
    if (dialogues.some(({ command }) => command.text.includes(REDIS))) redis = await startRedis()
    outputs = await outputsOf(dialogues, { ...(await service.start()), redis: redis?.port })
  })
  afterAll(async () => {
    await service.stop()
    await redis?.stop()
  })

  dialogues.forEach(({ command, output }, i) => {
    test(`${placeOf(page, command)} prints what it shows`, () => {
      if (isWhole(page)) expectWhole(outputs[i] ?? '', output)
      else expectShown(outputs[i] ?? '', output)
    })
  })
})

describe('with a Redis', () => {
  const samples = pages().flatMap((page) =>
    page.blocks.filter(needsRedis).map((block) => [placeOf(page, block), page, block] as const),
  )
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(async () => {
    removeSamples()
    await redis.stop()
  })

  test.each(samples)('%s does what it says', (place, page, block) => {
    const text = block.text.replaceAll(REDIS, `redis://127.0.0.1:${redis.port}`)
    return runSample(programOf(text, place), fileOf(page, block))
  })
})

/** The first page shows answers as they really are, whole, by the real clock. */
function isWhole({ path }: Page): boolean {
  return path === 'README.md'
}

function expectWhole(printed: string, { text }: Block): void {
  expect(text).not.toContain('…')
  expect(JSON.parse(printed, withoutTime)).toEqual(JSON.parse(text, withoutTime))
}

/** What depends on how fast the lines before were run, within the minute that the figures are about. */
function withoutTime(name: string, value: unknown): unknown {
  if (/(After|repeatable)Ms$/.test(name) && typeof value === 'number' && value > 1) {
    expect(value).toBeLessThanOrEqual(60_000)
    return 'up to a minute'
  }
  if (name === 'Retry-After') return /^[1-6]?\d$/.test(String(value)) ? 'up to a minute' : value
  return name === 'RateLimit' ? String(value).replaceAll(/t=\d+/g, 't=…') : value
}

/** JSON may be shortened by fields; in it and in text, `…` stands for any characters. */
function expectShown(printed: string, { language, text }: Block): void {
  if (language === 'text') expect(printed.trimEnd()).toMatch(pattern(text.trimEnd()))
  else expect(JSON.parse(printed)).toMatchObject(JSON.parse(text, open))
}

function open(_key: string, value: unknown): unknown {
  return typeof value === 'string' && value.includes('…') ? expect.stringMatching(pattern(value)) : value
}

function pattern(text: string): RegExp {
  const parts = text.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's')
}

/** Samples do not use all that they show, and see the packages' sources. */
const compilerOptions = {
  noEmit: true,
  composite: false,
  declaration: true,
  isolatedDeclarations: false,
  noUnusedLocals: false,
  customConditions: ['@sluice/source'],
}

test('samples are well typed', () => {
  const folder = join(ROOT, 'node_modules/.cache/docs-types')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const page of pages()) {
    for (const block of page.blocks.filter(isProgram))
      writeFileSync(join(folder, fileOf(page, block)), block.text)
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../../tsconfig.base.json', compilerOptions }),
  )
  const { stdout } = spawnSync('npx', ['--no-install', 'tsc', '-p', folder], { cwd: ROOT, encoding: 'utf8' })
  expect(stdout).toBe('')
})
