import { createServer } from 'node:net'

/** Below those that systems give to clients, and to servers that ask for any: nobody is given one by chance. */
const [FIRST, LAST] = [20_000, 30_000]
const given = new Set<number>()

/** A port of this machine that nobody listens on, another one each time: for programs that cannot choose one. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST))
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
