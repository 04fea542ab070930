/** How OpenTelemetry names a metric of Prometheus. */
export interface MetricName {
  readonly name: string
  readonly unit: string
  readonly description?: string
  /** Attributes that the name in Prometheus says, such as which kind of CPU time. */
  readonly attributes?: Readonly<Record<string, string>>
  /** The attribute of a label. */
  attributeOf(label: string): string
}

type Convention = Omit<MetricName, 'attributeOf'> & { readonly labels?: Readonly<Record<string, string>> }

const LAG = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']

/** Names that no rule makes: what the process reports has some in OpenTelemetry's semantic conventions. */
const CONVENTIONS: ReadonlyMap<string, Convention> = new Map<string, Convention>([
  [
    'process_cpu_user_seconds_total',
    { name: 'process.cpu.time', unit: 's', attributes: { 'cpu.mode': 'user' } },
  ],
  [
    'process_cpu_system_seconds_total',
    { name: 'process.cpu.time', unit: 's', attributes: { 'cpu.mode': 'system' } },
  ],
  ['process_resident_memory_bytes', { name: 'process.memory.usage', unit: 'By' }],
  ['sluice_store_bytes', { name: 'sluice.store.size', unit: 'By' }],
  ['process_open_fds', { name: 'process.unix.file_descriptor.count', unit: '{file_descriptor}' }],
  [
    'nodejs_heap_space_size_used_bytes',
    { name: 'v8js.memory.heap.used', unit: 'By', labels: { space: 'v8js.heap.space.name' } },
  ],
  ['nodejs_gc_duration_seconds', { name: 'v8js.gc.duration', unit: 's', labels: { kind: 'v8js.gc.type' } }],
  ...LAG.map((each): [string, Convention] => [
    `nodejs_eventloop_lag_${each}_seconds`,
    { name: `nodejs.eventloop.delay.${each}`, unit: 's' },
  ]),
])

/** Namespaces, and what is in them. */
const OWN =
  /^(sluice_(?:build|decision|log|policy|rlqs|rules|store)|sluice|ratelimit_service)_(.+?)(?:_total)?$/
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/_seconds$/, 's'],
  [/_bytes$/, 'By'],
  [/_ratio$/, '1'],
]

/**
 * The name of a metric in OpenTelemetry, and its unit: the first words become namespaces, and a unit leaves the name.
 * `sluice_store_answer_duration_seconds` is `sluice.store.answer_duration` in `s`.
 * @returns undefined for metrics of the process that OpenTelemetry has no name for
 */
export function metricNameOf(prometheus: string, isCounter: boolean): MetricName | undefined {
  const convention = CONVENTIONS.get(prometheus)
  if (convention !== undefined) {
    const { labels, ...name } = convention
    return { ...name, attributeOf: (label) => labels?.[label] ?? label }
  }
  const [, space, rest] = OWN.exec(prometheus) ?? []
  if (space === undefined) return undefined
  const unit = UNITS.find(([ending]) => ending.test(rest!))
  const short = unit === undefined ? rest! : rest!.replace(unit[0], '')
  return {
    name: `${space.replace('_', '.')}.${short}`,
    unit: unit?.[1] ?? countedUnit(short, isCounter),
    attributeOf: (label) => `${space.split('_', 1)[0]}.${label}`,
  }
}

/** What is counted, in braces: the last word, if it is a plural. */
function countedUnit(name: string, isCounter: boolean): string {
  const [, plural] = /([a-z]+)s$/.exec(name) ?? []
  if (plural !== undefined) return `{${plural}}`
  return isCounter ? '{request}' : '1'
}
