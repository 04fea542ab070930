import { UsageError } from '../usage-error.ts'

/** A share such as `0.1%` or `0.001`, 0–1. @throws UsageError */
function shareFrom(text: string, option: string): number {
  const [, digits, percent] = /^(\d+(?:\.\d+)?)\s*(%)?$/.exec(text) ?? []
  const share = Number(digits ?? Number.NaN) / (percent === undefined ? 1 : 100)
  if (share >= 0 && share <= 1) return share
  throw new UsageError(`${option} must be a share such as 0.1%, not ${JSON.stringify(text)}`)
}

/** Whether a count is over what an option allows: a whole number, or a share of all. @throws UsageError */
export function shareOrCount(text: string, option: string): (count: number, all: number) => boolean {
  if (/^\d+$/.test(text)) {
    const most = Number(text)
    return (count) => count > most
  }
  if (!text.trim().endsWith('%'))
    throw new UsageError(`${option} must be a count, or a share such as 0.1%, not ${JSON.stringify(text)}`)
  const share = shareFrom(text, option)
  return (count, all) => count > share * all
}
