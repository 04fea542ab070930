import type { ServeOptionRows } from './option-row.ts'

/** Settings for Envoy: gRPC, its rate limit service, and rules by xDS. */
export const ENVOY_OPTIONS: ServeOptionRows = {
  grpc: {
    kind: 'text',
    value: 'ADDRESS',
    help: 'HOST:PORT or unix:PATH for Envoy’s rate limit and authorization services; without it, gRPC is not spoken',
    see: 'envoy/README.md',
    to: (grpc) => ({ grpc }),
  },
  'grpc-deadline': {
    kind: 'time',
    value: 'TIME',
    help: 'for how long a call is decided that does not say how long it waits',
    default: '15ms',
    see: 'envoy/README.md#the-deadline',
    to: (deadlineMs) => ({ rls: { deadlineMs } }),
  },
  'grpc-cert': {
    kind: 'text',
    value: 'FILE',
    help: 'certificate for gRPC, in PEM; it is read again when it changes',
    see: 'envoy/README.md#tls',
    to: (cert) => ({ grpcTls: { cert } }),
  },
  'grpc-key': { kind: 'text', value: 'FILE', help: 'its key', to: (key) => ({ grpcTls: { key } }) },
  'grpc-client-ca': {
    kind: 'text',
    value: 'FILE',
    help: 'who signs the certificates that clients of gRPC must show',
    to: (clientCa) => ({ grpcTls: { clientCa } }),
  },
  'grpc-client-name': {
    kind: 'text',
    value: 'NAME',
    help: 'a name that these certificates must have',
    to: (clientName) => ({ grpcTls: { clientName } }),
  },
  'grpc-connection-age': {
    kind: 'time',
    value: 'TIME',
    help: 'after which a connection of gRPC is ended, so that clients spread anew',
    to: (maxConnectionAgeMs) => ({ rls: { maxConnectionAgeMs } }),
  },
  'grpc-connection-grace': {
    kind: 'time',
    value: 'TIME',
    help: 'for how long calls on it may then go on',
    to: (maxConnectionAgeGraceMs) => ({ rls: { maxConnectionAgeGraceMs } }),
  },
  'rlqs-ttl': {
    kind: 'time',
    value: 'TIME',
    help: 'how long what is assigned to a proxy is good, 15s to 1h, in whole seconds',
    default: '30s',
    see: 'envoy/rlqs.md',
    to: (ttlMs) => ({ rlqs: { ttlMs } }),
  },
  'rlqs-nodes': {
    kind: 'number',
    value: 'N',
    help: 'services that assign the same limits to proxies, each of them an even part',
    default: '1',
    see: 'envoy/rlqs.md',
    to: (nodes) => ({ rlqs: { nodes } }),
  },
  'descriptors-shadow': {
    kind: 'flag',
    help: 'limits that Envoy asks for refuse nothing, they report alone',
    default: 'false',
    to: (shadow) => ({ rls: { shadow } }),
  },
  'descriptors-quota': {
    kind: 'flag',
    help: 'limits that Envoy asks for refuse only when all of the request do',
    default: 'false',
    to: (quota) => ({ rls: { quota } }),
  },
  'dynamic-metadata': {
    kind: 'flag',
    help: 'answers to Envoy have the request and the metadata of limits that passed',
    default: 'false',
    to: (dynamicMetadata) => ({ rls: { dynamicMetadata } }),
  },
  'limit-headers': {
    kind: 'list',
    value: 'NAME',
    help: 'three further headers in answers to Envoy: for the limit, what remains, and seconds until the reset',
    to: ([limit = '', remaining = '', reset = '']) => ({
      rls: { limitHeaders: { limit, remaining, reset } },
    }),
  },
  'near-limit': {
    kind: 'number',
    value: 'SHARE',
    help: 'the share of a limit from which hits are counted as near it',
    default: '0.8',
    to: (nearLimitRatio) => ({ rls: { nearLimitRatio } }),
  },
  xds: {
    kind: 'text',
    value: 'HOST:PORT',
    help: 'a server that sends the rules by xDS, as Envoy Gateway has; then there are no files',
    see: 'envoy/gateway.md',
    to: (server) => ({ xds: { server } }),
  },
  'xds-node': {
    kind: 'text',
    value: 'ID',
    help: 'the id of this node for it; default is "default"',
    to: (node) => ({ xds: { node } }),
  },
  'xds-metadata': {
    kind: 'list',
    value: 'NAME=VALUE',
    help: 'metadata of the node',
    to: (pairs) => ({ xds: { metadata: recordOfPairs(pairs) } }),
  },
  'xds-header': {
    kind: 'list',
    value: 'NAME=VALUE',
    help: 'a header of the call to that server',
    to: (pairs) => ({ xds: { headers: recordOfPairs(pairs) } }),
  },
  'xds-ca': {
    kind: 'text',
    value: 'FILE',
    help: 'who signs the certificate of that server, in PEM; with it the connection is by TLS',
    to: (ca) => ({ xds: { ca } }),
  },
  'xds-cert': {
    kind: 'text',
    value: 'FILE',
    help: 'a certificate to show to that server',
    to: (cert) => ({ xds: { cert } }),
  },
  'xds-key': { kind: 'text', value: 'FILE', help: 'its key', to: (key) => ({ xds: { key } }) },
  'xds-name': {
    kind: 'text',
    value: 'NAME',
    help: 'the name in the certificate of that server, where it is not its address',
    to: (serverName) => ({ xds: { serverName } }),
  },
  'envoy-ratelimit': {
    kind: 'flag',
    help: 'reads the variables of envoyproxy/ratelimit too, such as RUNTIME_ROOT and REDIS_URL',
    default: 'false',
    see: 'envoy/replace-ratelimit.md#variables',
    to: () => ({}),
  },
}

/** Of `NAME=VALUE`; a pair without a sign has an empty value. */
function recordOfPairs(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      return at < 0 ? [pair, ''] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
    }),
  )
}
