/** IP addresses, networks, and what proxies say of them. */
export { type Cidr, type CidrTrie, cidrTrie, parseCidr, valuesAt } from './core/identify/cidr.ts'
export { clientAddress, type Proxies } from './core/identify/forwarded.ts'
export { ipKey, parseAddress } from './core/identify/ip.ts'
