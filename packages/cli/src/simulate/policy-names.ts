import type { CompiledDomain } from '@sluice/limiter/core/match/compile'

type Level = CompiledDomain['descriptors'] | LevelBelow
type LevelBelow = CompiledDomain['descriptors']['patterns'][number]['children']

/** The names under which a domain's decisions speak of its limits, in one of its two formats. */
export function policyNames({ limits, descriptors }: CompiledDomain, byDescriptors: boolean): string[] {
  return byDescriptors ? [...namesBelow(descriptors)] : limits.map(({ name }) => name)
}

function* namesBelow({ exact, patterns, keys }: Level): Generator<string> {
  const nodes = [
    ...[...exact.values()].flatMap((values) => [...values.values()]),
    ...patterns,
    ...keys.values(),
  ]
  for (const { limit, children } of nodes) {
    if (limit?.enforcement !== undefined) yield limit.enforcement.ruling.subject.name
    yield* namesBelow(children)
  }
}
