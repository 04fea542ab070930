import { UsageError } from '../usage-error.ts'

/** The URL of a store by the REDIS_ variables. @throws UsageError naming a variable */
export function redisUrlOf(set: ReadonlyMap<string, string>): string {
  const type = (set.get('REDIS_TYPE') ?? 'SINGLE').toUpperCase()
  const socket = (set.get('REDIS_SOCKET_TYPE') ?? 'unix').toLowerCase()
  const url = set.get('REDIS_URL')!
  if (socket === 'unix' && url.startsWith('/'))
    throw new UsageError('REDIS_SOCKET_TYPE unix is not supported: let Redis listen at a port, and set tcp')
  const tls =
    socket === 'tls' || /^(?:1|t|true)$/i.test(set.get('REDIS_TLS') ?? '') || url.startsWith('rediss://')
  const login = loginOf(set.get('REDIS_AUTH'))
  const place = url.replace(/^rediss?:\/\//, '')
  const scheme = `redis${tls ? 's' : ''}`
  if (place.includes('@')) return `${scheme}://${place}`
  switch (type) {
    case 'SINGLE':
      return `${scheme}://${login}${place}`
    case 'CLUSTER':
      return `${scheme}+cluster://${login}${place}`
    case 'SENTINEL': {
      const [master = '', ...hosts] = place.split(',')
      if (hosts.length === 0)
        throw new UsageError('REDIS_URL of REDIS_TYPE SENTINEL must be MASTER,HOST:PORT,…')
      return `${scheme}+sentinel://${login}${hosts.join(',')}/${master}`
    }
    default:
      throw new UsageError(`REDIS_TYPE must be SINGLE, SENTINEL or CLUSTER, not ${JSON.stringify(type)}`)
  }
}

/** `PASSWORD`, or `USER:PASSWORD`. */
function loginOf(auth: string | undefined): string {
  if (auth === undefined) return ''
  const at = auth.indexOf(':')
  const [user, password] = at < 0 ? ['', auth] : [auth.slice(0, at), auth.slice(at + 1)]
  return `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`
}
