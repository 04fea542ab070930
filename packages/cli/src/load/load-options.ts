import type { LoadShape } from '@sluice/lab'
import type { CommandOptions, Values } from '../command.ts'
import { TRAFFIC_OPTIONS } from '../lab/traffic.ts'
import { RULES_OPTIONS } from '../rules.ts'

const SHAPES: readonly LoadShape['kind'][] = ['constant', 'ramp', 'burst', 'herd', 'poisson']

type TextName =
  | 'shape'
  | 'rate'
  | 'from'
  | 'size'
  | 'every'
  | 'duration'
  | 'speed'
  | 'method'
  | 'body'
  | 'keys'
  | 'zipf'
  | 'limit'
  | 'burst'
  | 'algorithm'
  | 'rules'
  | 'domain'
  | 'ip-header'
  | 'tolerance'
  | 'edge-wait'
  | 'connections'
  | 'timeout'
  | 'seed'
  | 'format'
type ListName = 'header' | 'target-is-mine'
type FlagName = 'own-addresses' | 'find-faults'

export type LoadValues = { readonly [Name in TextName]?: string } & {
  readonly [Name in ListName]?: readonly string[]
} & {
  readonly [Name in FlagName]?: boolean
} & Values<typeof RULES_OPTIONS> &
  Values<typeof TRAFFIC_OPTIONS>

/** Every option of `sluice load`. */
export const LOAD_OPTIONS: CommandOptions = {
  shape: {
    type: 'string',
    value: 'SHAPE',
    choices: SHAPES,
    help: 'constant (default), ramp (from --from to --rate), burst (--size at once --every), herd, poisson',
  },
  rate: { type: 'string', value: 'N', help: 'requests a second, to 100000; default 100' },
  from: { type: 'string', value: 'N', help: 'requests a second at the start of a ramp; default 1' },
  size: { type: 'string', value: 'N', help: 'requests of a burst; default 100' },
  every: { type: 'string', value: 'TIME', help: 'time between bursts, or between herds; default 1s' },
  duration: { type: 'string', value: 'TIME', help: 'how long, to 1h; default 10s' },
  ...TRAFFIC_OPTIONS,
  speed: { type: 'string', value: 'N', help: 'so many times as fast as the log; default 1' },
  method: { type: 'string', value: 'METHOD', help: 'default GET, or POST with a body' },
  header: { type: 'string', multiple: true, value: 'NAME:VALUE', help: 'may be given again' },
  body: { type: 'string', value: 'TEXT', help: 'body of each request' },
  keys: { type: 'string', value: 'N', help: 'keys that {key} stands for, to 1000000; default 100' },
  zipf: {
    type: 'string',
    value: 'S',
    help: 'how unevenly keys are asked: 0 evenly, 1 as words of a text; default 1',
  },
  'own-addresses': { type: 'boolean', help: 'each key comes from an address of its own in 127.0.0.0/8' },
  limit: {
    type: 'string',
    value: 'COUNT/PERIOD',
    help: 'what one key may have, such as 10/2s; answers are checked',
  },
  burst: { type: 'string', value: 'N', help: 'what it may have at once, where that differs from the limit' },
  algorithm: { type: 'string', value: 'NAME', help: 'by which algorithm, so that its own bound counts' },
  rules: { type: 'string', value: 'PATH', help: 'a rulebook: tries each of its limits against its bound' },
  domain: { type: 'string', value: 'NAME', help: 'only the limits of this domain' },
  'ip-header': {
    type: 'string',
    value: 'NAME',
    help: 'by which the target takes the client’s address, with --rules',
  },
  tolerance: { type: 'string', value: 'SHARE', help: 'how far below a rule admissions may be; default 0.05' },
  'edge-wait': {
    type: 'string',
    value: 'TIME',
    help: 'longest wait for a window to end, with --rules; default 10s',
  },
  'find-faults': { type: 'boolean', help: 'looks for what limiters get wrong; needs --limit and keys' },
  connections: {
    type: 'string',
    value: 'N',
    help: 'most connections from one address, to 1000; default 100',
  },
  timeout: { type: 'string', value: 'TIME', help: 'after which a request has failed; default 10s' },
  'target-is-mine': {
    type: 'string',
    multiple: true,
    value: 'HOST',
    help: 'this host is yours, and you may load it; without it, loopback alone',
  },
  seed: { type: 'string', value: 'N', help: 'repeats the same choice of keys and arrivals' },
  ...RULES_OPTIONS,
  format: { type: 'string', value: 'FORMAT', choices: ['text', 'json'], help: 'text (default) or json' },
} satisfies Readonly<Record<keyof LoadValues, CommandOptions[string]>>
