import type { DescriptorNode } from './descriptor-tree.ts'

/** One entry of a request's descriptor. */
export interface Entry {
  readonly key: string
  readonly value: string
}

/** What a descriptor is called in metrics, level by level, where its rules ask for the request's own values. */
export function metricLabels(path: readonly DescriptorNode[], entries: readonly Entry[]): readonly string[] {
  const detailed = path.at(-1)!.detailed
  return path.map(({ shared, valueToMetric, label, value, fits }, i) => {
    const isOpen = fits !== undefined || value === undefined
    return !shared && (detailed || (valueToMetric && isOpen)) ? labelOf(entries[i]!) : label
  })
}

/** `key_value`, as stats keys have it. */
export function labelOf({ key, value }: Entry): string {
  return value === '' ? key : `${key}_${value}`
}
