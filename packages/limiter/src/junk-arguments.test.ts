import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import * as edge from './edge.ts'
import * as root from './index.ts'
import { createLimiter, SluiceError } from './index.ts'
import { createPipeline } from './pipeline.ts'
import { createQueue } from './queue.ts'

const junk = [undefined, null, 5, NaN, 'x', '', {}, [], () => 1, true, Symbol('x'), new Date(0), new Map()]
/** V8's own words, which name our code and not the mistake. */
const RAW =
  /^(Cannot |Invalid |Class |[\w.]+ is (not|null|undefined)|.* is not (a function|iterable|a constructor))/

interface Call {
  readonly name: string
  readonly args: readonly unknown[]
  readonly call: () => unknown
}

function callsOf(owner: string, exports: object, before: readonly unknown[] = []): Call[] {
  return Object.entries(exports).flatMap(([name, value]) => {
    if (typeof value !== 'function') return []
    const call = (...args: unknown[]) =>
      /^[A-Z]/.test(name)
        ? Reflect.construct(value, args)
        : (value as (...args: unknown[]) => unknown)(...args)
    return junk.map((given) => ({
      name: `${owner} ${name}`,
      args: [...before, given],
      call: () => call(...before, given),
    }))
  })
}

function methodsOf(thing: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(thing).filter(([name, value]) => typeof value === 'function' && name !== 'close'),
  )
}

async function rawError({ name, args, call }: Call): Promise<string | undefined> {
  try {
    await call()
    return undefined
  } catch (error) {
    if (error instanceof SluiceError || (error instanceof Error && !RAW.test(error.message))) return undefined
    return `${name}(${args.map(String).join(', ')}): ${error}`
  }
}

async function rawErrors(calls: readonly Call[]): Promise<string[]> {
  const errors = []
  for (const call of calls) {
    const raw = await rawError(call)
    if (raw !== undefined) errors.push(raw)
  }
  return errors
}

describe('OF-22: arguments that make no sense are answered in words of this library', async () => {
  const policies = {
    api: {
      algorithm: 'token-bucket',
      limit: 1_000_000_000,
      period: '1m',
      block: { after: 9, within: '1m', for: '1m' },
    },
  } as const
  const limiter = createLimiter({ policies })

  test('the first argument of what the root, the edge, the queue and the pipeline export', async () => {
    const called = (exports: object): object =>
      Object.fromEntries(Object.entries(exports).filter(([name]) => !/Error$|Exceeded$/.test(name)))
    const calls = [
      ...callsOf('root', called(root)),
      ...callsOf('edge', called(edge)),
      ...callsOf('queue', { createQueue }),
      ...callsOf('pipeline', { createPipeline }),
    ]
    expect(calls.length).toBeGreaterThan(60)
    expect(await rawErrors(calls)).toEqual([])
  })

  test('each method of a limiter and of a queue: the first argument, and the one after a key', async () => {
    const limits = methodsOf(limiter)
    const queue = methodsOf(createQueue(limiter))
    const calls = [limits, queue].flatMap((methods, i) => {
      const owner = i === 0 ? 'limiter' : 'queue'
      return [...callsOf(owner, methods), ...callsOf(owner, methods, ['ada'])]
    })
    expect(calls.length).toBeGreaterThan(200)
    expect(await rawErrors(calls)).toEqual([])
  })

  test.each(['adapters', 'stores', 'compat', 'edge'])(
    'the first argument of what each file of %s exports',
    async (folder) => {
      const files = readdirSync(new URL(`./${folder}/`, import.meta.url)).filter((file) =>
        /^[\w-]+\.ts$/.test(file),
      )
      expect(files.length).toBeGreaterThan(1)
      for (const file of files) {
        const exports = await import(new URL(`./${folder}/${file}`, import.meta.url).href)
        expect(await rawErrors(callsOf(file, exports))).toEqual([])
      }
    },
  )
})
