import { Redis } from 'ioredis'
import { startProxy, type TcpProxy } from './proxy.test-support.ts'
import { type RedisServer, startRedis } from './server.test-support.ts'

/** A Redis server behind a proxy. */
export interface FailingRedis {
  readonly server: RedisServer
  readonly proxy: TcpProxy
  /** Speaks to the server without the proxy. */
  readonly admin: Redis
  close(): Promise<void>
}

export async function startFailingRedis(): Promise<FailingRedis> {
  const server = await startRedis()
  const proxy = await startProxy(server.port)
  const admin = new Redis({ port: server.port, autoResendUnfulfilledCommands: false })
  admin.on('error', () => undefined)
  const close = async (): Promise<void> => {
    admin.disconnect()
    await proxy.close()
    await server.stop()
  }
  return { server, proxy, admin, close }
}

interface RedisFailure {
  fail(redis: FailingRedis): unknown
  mend(redis: FailingRedis): unknown
  /** The server is empty afterwards. */
  readonly forgets?: true
  /** Nothing needs to be mended: a new connection works. */
  readonly passes?: true
}

/** Errors that a server, or what stands for one, may answer with. */
export const lies: readonly string[] = [
  '-ERR unknown command\r\n',
  '-LOADING Redis is loading the dataset in memory\r\n',
  "-READONLY You can't write against a read only replica.\r\n",
  '-NOAUTH Authentication required.\r\n',
  "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
  '-MISCONF Redis is configured to save RDB snapshots, but it is unable to persist to disk\r\n',
  '-NOSCRIPT No matching script.\r\n',
  '-TRYAGAIN Multiple keys request during rehashing of slot\r\n',
  '-BUSY Redis is busy running a script.\r\n',
  '-MOVED 1 127.0.0.1:1\r\n',
  '+OK\r\n',
  ':1\r\n',
  '$-1\r\n',
  '_\r\n',
  '*0\r\n',
  '*7\r\n$1\r\nx\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n',
]

/** All the ways of failing that docs/redis.md makes promises for. */
export const failures: Readonly<Record<string, RedisFailure>> = {
  'stands still': { fail: ({ server }) => server.pause(), mend: ({ server }) => server.resume() },
  'dies and comes back empty': {
    fail: ({ server }) => server.kill(),
    mend: ({ server }) => server.restart(),
    forgets: true,
  },
  'is full': {
    fail: ({ admin }) => admin.config('SET', 'maxmemory', '1'),
    mend: ({ admin }) => admin.config('SET', 'maxmemory', '0'),
  },
  'is a replica that takes no writes': {
    fail: ({ admin }) => admin.replicaof('127.0.0.1', 1),
    mend: ({ admin }) => admin.replicaof('NO', 'ONE'),
  },
  'wants a password': {
    async fail({ admin }) {
      await admin.config('SET', 'requirepass', 'secret')
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal')
    },
    mend: ({ admin }) => admin.config('SET', 'requirepass', ''),
  },
  'answers too late': {
    fail: ({ proxy }) => {
      proxy.delayMs = 2_000
    },
    mend: ({ proxy }) => {
      proxy.delayMs = 0
    },
  },
  'loses its answers': {
    fail: ({ proxy }) => {
      proxy.losesAnswers = true
    },
    mend: ({ proxy }) => {
      proxy.losesAnswers = false
    },
  },
  'keeps its answers': {
    fail: ({ proxy }) => {
      proxy.keepsAnswers = true
    },
    mend: ({ proxy }) => {
      proxy.keepsAnswers = false
    },
  },
  'accepts connections and says nothing': {
    fail: ({ proxy }) => {
      proxy.hangs = true
    },
    mend: ({ proxy }) => {
      proxy.hangs = false
    },
  },
  'keeps its connections open and silent': {
    fail: ({ proxy }) => proxy.silence(),
    mend: () => undefined,
    passes: true,
  },
  'cuts its connections': { fail: ({ proxy }) => proxy.cut(), mend: () => undefined, passes: true },
  'refuses connections': { fail: ({ proxy }) => proxy.refuse(), mend: ({ proxy }) => proxy.listen() },
  'answers with garbage': {
    fail: ({ proxy }) => {
      proxy.garbles = true
    },
    mend: ({ proxy }) => {
      proxy.garbles = false
    },
  },
  'answers that it is loading, to each new connection too': {
    fail: ({ proxy }) => proxy.lie('-LOADING Redis is loading the dataset in memory\r\n'),
    mend: ({ proxy }) => proxy.lie(undefined),
  },
}
