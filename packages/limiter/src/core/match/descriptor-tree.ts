import type { Rule } from '../decide/rule.ts'
import { ConfigError } from '../errors.ts'
import { escaped, MISSING } from '../identify/key-text.ts'
import { checkOptions } from '../options.ts'
import { unassignable } from './assign.ts'
import { type Descriptor, type DescriptorLimit, descriptorCheck } from './domain.ts'
import type { Setting } from './limit.ts'
import { naming } from './make-rule.ts'
import { patternIndex } from './pattern-index.ts'
import type { Pieces } from './pieces.ts'
import { wildcard } from './wildcard.ts'

/** One level of the tree, as a request walks it: an exact value, else the first pattern that fits, else the key alone. */
export interface Level {
  readonly exact: ReadonlyMap<string, ReadonlyMap<string, DescriptorNode>>
  /** In file order. */
  readonly patterns: readonly DescriptorNode[]
  readonly firstPattern: (key: string, value: string) => DescriptorNode | undefined
  readonly keys: ReadonlyMap<string, DescriptorNode>
}

export interface DescriptorNode {
  readonly key: string
  /** The value or pattern, as written. */
  readonly value: string | undefined
  /** `key` or `key_value`, as stats keys have it. */
  readonly label: string
  /** Only for patterns: whether an entry matches. */
  readonly fits: ((key: string, value: string) => boolean) | undefined
  /** All entries that match the pattern share one counter. */
  readonly shared: boolean
  readonly valueToMetric: boolean
  readonly detailed: boolean
  readonly limit: CompiledDescriptorLimit | undefined
  readonly children: Level
}

export interface CompiledDescriptorLimit {
  readonly met: MatchedLimit
  readonly replaces: readonly string[]
  /** Absent when unlimited. */
  readonly rule: Rule | undefined
}

/** The limit that a descriptor met, as answers repeat it. */
export interface MatchedLimit {
  readonly name?: string
  /** `second`, `minute`, … as the file says it; absent where the rule gives a period instead. */
  readonly unit?: string
  /** 0 when unlimited. */
  readonly requestsPerUnit: number
  readonly unlimited: boolean
  /** What it is called in metrics: `domain.key_value.key`. */
  readonly statsKey: string
  /** The same behind the domain, level by level: `key_value`, `key`. */
  readonly labels: readonly string[]
  /** Where labels have values of the request, those of the rulebook; none for a limit that the request brings. */
  readonly written?: readonly string[]
  readonly metadata?: unknown
}

export interface DescriptorTree extends Level {
  readonly domain: string
}

export function* compileDescriptors(
  domain: string,
  descriptors: readonly Descriptor[],
  setting: Setting,
): Pieces<DescriptorTree> {
  return { domain, ...(yield* levelOf(descriptors, [domain], [], setting)) }
}

/** @param labels and @param written what stands above, as stats keys and as policies spell it */
function* levelOf(
  descriptors: readonly Descriptor[],
  labels: readonly string[],
  written: readonly string[],
  setting: Setting,
): Pieces<Level> {
  const exact = new Map<string, Map<string, DescriptorNode>>()
  const keys = new Map<string, DescriptorNode>()
  const patterns: DescriptorNode[] = []
  for (const descriptor of descriptors) {
    const node = yield* nodeOf(descriptor, labels, written, setting)
    const values = exact.get(node.key) ?? new Map<string, DescriptorNode>()
    if (node.fits !== undefined) patterns.push(node)
    else if (node.value === undefined) keys.set(node.key, node)
    else exact.set(node.key, values.set(node.value, node))
    yield
  }
  return { exact, patterns, firstPattern: patternIndex(patterns), keys }
}

function* nodeOf(
  descriptor: Descriptor,
  labels: readonly string[],
  written: readonly string[],
  setting: Setting,
): Pieces<DescriptorNode> {
  naming(`a descriptor of ${labels.join('.')}`, descriptor?.source, () => {
    checkOptions(descriptor, descriptorCheck)
  })
  const { key, rateLimit, source } = descriptor
  const value = descriptor.value === '' ? undefined : descriptor.value
  const label = value === undefined ? key : `${key}_${value}`
  const path = [...labels, label]
  const names = [...written, escaped(key), value === undefined ? MISSING : escaped(value)]
  const isPattern = label.includes('*')
  return {
    key,
    value,
    label,
    fits: isPattern ? fitting(key, value) : undefined,
    shared: descriptor.shareThreshold && isPattern,
    valueToMetric: descriptor.valueToMetric,
    detailed: descriptor.detailedMetric,
    limit:
      rateLimit &&
      naming(`descriptor ${path.join('.')}`, source, () =>
        compiledLimitOf(descriptor, rateLimit, path, names, setting),
      ),
    children: yield* levelOf(descriptor.descriptors, path, names, setting),
  }
}

function fitting(key: string, value: string | undefined): (key: string, value: string) => boolean {
  const ownKey = wildcard(key)
  const ownValue = value === undefined ? () => true : wildcard(value)
  return (someKey, someValue) => ownKey(someKey) && ownValue(someValue)
}

function compiledLimitOf(
  { shadowMode, quotaMode, metadata }: Descriptor,
  limit: DescriptorLimit,
  path: readonly string[],
  names: readonly string[],
  { ruleFor }: Setting,
): CompiledDescriptorLimit {
  const { name, unit, quota, unlimited, replaces } = limit
  const labels = path.slice(1)
  const met: MatchedLimit = {
    requestsPerUnit: unlimited ? 0 : (quota?.limit ?? 0),
    unlimited,
    statsKey: path.join('.'),
    labels,
    written: labels,
    ...(name !== undefined && { name }),
    ...(unit !== undefined && { unit: unit.toLowerCase() }),
    ...(metadata !== undefined && { metadata }),
  }
  if (unlimited) return { met, replaces, rule: undefined }
  const keys = names.filter((_, i) => i % 2 === 0).map((key) => key.replaceAll('%2A', '*')) // as they were written
  const refused = limit.assign === undefined ? undefined : unassignable(keys)
  if (refused !== undefined) throw new ConfigError(refused)
  if (quota === undefined) throw new ConfigError('it needs a number of requests and a unit, or unlimited')
  const options = shadowMode ? { ...limit, mode: 'shadow' as const } : limit
  const namespace = descriptorNamespace(path[0]!, names)
  const source = { options, name: name ?? printablePath(path), namespace, quota: quotaMode }
  return { met, replaces, rule: ruleFor(source, quota) }
}

/** Two slashes, which no limit of the other format has. */
export function descriptorNamespace(domain: string, names: readonly string[]): string {
  return `${escaped(domain).replaceAll('/', '%2F')}//${names.join('|')}`
}

/** A rule without a name goes by its path: `key1_value1.subkey1`, in printable ASCII. */
export function printablePath(path: readonly string[]): string {
  return path
    .slice(1)
    .join('.')
    .replace(/[^ -~]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
}
