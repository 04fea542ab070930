import type { OptionCheck } from '../../core/options.ts'

const UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['B', 1],
  ['kB', 1e3],
  ['KB', 1e3],
  ['MB', 1e6],
  ['GB', 1e9],
  ['KiB', 2 ** 10],
  ['MiB', 2 ** 20],
  ['GiB', 2 ** 30],
])

/** Where the limit of the heap cannot be read. */
const USUAL_HEAP = 2 ** 30

/** Bytes as a setting: a number, text with a unit, or a share of the heap. */
export const byteCheck: OptionCheck = (value) =>
  Number.isNaN(byteCount(value))
    ? ['a number of bytes above 0, text such as 200MB or 64MiB, or a share of the heap such as 25%']
    : undefined

/** So many bytes, or NaN. A share is of the heap that this process may use. */
export function byteCount(given: unknown): number {
  if (typeof given !== 'number' && typeof given !== 'string') return Number.NaN
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?) *(%|[A-Za-z]*)$/.exec(String(given)) ?? []
  const number = digits === '' ? Number.NaN : Number(digits)
  if (unit === '%') return number > 0 && number <= 100 ? Math.floor((number / 100) * heapLimit()) : Number.NaN
  const bytes = Math.floor(number * (UNITS.get(unit) ?? Number.NaN))
  return bytes >= 1 && bytes <= Number.MAX_SAFE_INTEGER ? bytes : Number.NaN
}

interface HeapProcess {
  getBuiltinModule?(name: 'node:v8'): { getHeapStatistics(): { heap_size_limit: number } } | undefined
}

/** What `--max-old-space-size` and the machine's memory leave this process. Asked so that it is no import of Node's. */
function heapLimit(): number {
  const { process } = globalThis as { process?: HeapProcess }
  const limit = process?.getBuiltinModule?.('node:v8')?.getHeapStatistics().heap_size_limit ?? 0
  return limit > 0 ? limit : USUAL_HEAP
}
