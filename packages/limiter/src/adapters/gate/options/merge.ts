const PERIOD = ['period', 'windowMs', 'timeWindow']
/** Options of which one, given, takes the place of all. */
const ALIKE = [
  ['limit', 'max', 'policies', 'limiter', 'rules'],
  PERIOD,
  ['key', 'keyGenerator'],
  ['onStoreError', 'passOnStoreError', 'skipOnError'],
  ['dialect', 'standardHeaders', 'legacyHeaders'],
]
/** What goes with limits of one kind alone: given another kind, it is left behind. */
const LEFT_BEHIND: Readonly<Record<string, readonly string[]>> = {
  limit: ['domain', 'attributes'],
  max: ['domain', 'attributes'],
  policies: [...PERIOD, 'domain', 'attributes'],
  limiter: [...PERIOD, 'domain', 'attributes', 'store', 'name', 'deadlineMs', 'clock'],
  rules: PERIOD,
}

/** A route's options over those that hold everywhere else. */
export function mergedOptions<O extends object>(general: O, own: O): O {
  const given = Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  const dropped = new Set([
    ...ALIKE.filter((names) => names.some((name) => given.includes(name))).flat(),
    ...given.flatMap((name) => LEFT_BEHIND[name] ?? []),
  ])
  return {
    ...Object.fromEntries(Object.entries(general).filter(([name]) => !dropped.has(name))),
    ...own,
  } as O
}
