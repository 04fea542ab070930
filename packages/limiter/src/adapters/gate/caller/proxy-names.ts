import { ConfigError } from '../../../core/errors.ts'
import { cidrCheck } from '../../../core/identify/cidr.ts'
import { anyOf, listOf, type OptionCheck, oneOf, wholeFrom } from '../../../core/options.ts'
import { CLOUDFLARE } from './cloudflare.ts'

/** Networks by the names that Express has for them (RFC 6890), and those of who publishes a list that rarely changes. */
const NETWORKS: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
  cloudflare: CLOUDFLARE,
}

const OF_YOUR_NETWORK =
  'has addresses of your own network: give the number of proxies, such as 1, or the CIDRs of its subnets'
const CHANGES = 'has addresses that change: give the number of proxies, or the CIDRs that it publishes today'
/** Names that mean no fixed list, and what to give in their place. */
const INSTEAD: Readonly<Record<string, string>> = {
  alb: OF_YOUR_NETWORK,
  elb: OF_YOUR_NETWORK,
  nlb: OF_YOUR_NETWORK,
  nginx: 'has the address of its own machine: give that, or loopback where it is the same one',
  cloudfront: CHANGES,
  fastly: CHANGES,
  akamai: CHANGES,
  gcp: CHANGES,
  azure: CHANGES,
}

const ONE: OptionCheck = /* @__PURE__ */ anyOf(oneOf(...Object.keys(NETWORKS)), cidrCheck)
const LIST: OptionCheck = /* @__PURE__ */ listOf(
  ONE,
  'the number of proxies, a list of their addresses, CIDRs and names, or false',
)

/** What `trustProxy` may be. */
export const proxiesCheck: OptionCheck = (value, path) => {
  const refuse = (why: string): never => {
    throw new ConfigError(`trustProxy: ${why}`, { path: ['trustProxy'] })
  }
  if (value === true) refuse('true would trust any client; give the number of proxies, or their CIDRs')
  if (value === false || value === 'none' || wholeFrom(0)(value, path) === undefined) return undefined
  const listed = typeof value === 'string' ? words(value) : value
  for (const one of Array.isArray(listed) ? listed : []) {
    if (typeof one === 'string' && Object.hasOwn(INSTEAD, one)) refuse(`${one} ${INSTEAD[one]}`)
  }
  return LIST(listed, path)
}

/** The addresses and CIDRs that a checked `trustProxy` names; text may list several, with commas between them. */
export function proxyNetworks(given: string | readonly string[]): readonly string[] {
  const listed = typeof given === 'string' ? words(given) : given
  return listed.flatMap((one) => (Object.hasOwn(NETWORKS, one) ? NETWORKS[one]! : one))
}

function words(text: string): readonly string[] {
  return text.split(',').map((one) => one.trim())
}
