import { textLines } from '@sluice/lab'
import { parseCidr } from '@sluice/limiter/address'
import { TICKS_PER_MS, ticksOf } from '@sluice/limiter/time'
import { Firewall } from '../ban/firewall.ts'
import { networksOfKey, neverBanned, offenderOf } from '../ban/offender.ts'
import { BanQueue } from '../ban/queue.ts'
import { type Command, defineCommand } from '../command.ts'
import type { Output } from '../io.ts'
import { printable } from '../printable.ts'
import { UsageError } from '../usage-error.ts'

/** Different complaints that are written. */
const MOST_COMPLAINTS = 1_000
const DEFAULT_SIZE = 65_536

/** Bans addresses in this machine's firewall. */
export const ban: Command = defineCommand({
  name: 'ban',
  summary: "refuses addresses in this machine's firewall for a time; reads them from standard input",
  options: {
    admin: {
      type: 'string',
      multiple: true,
      value: 'ADDRESS',
      help: 'from where this machine is administered, an address or CIDR: never banned; needed; may be given again',
    },
    allow: {
      type: 'string',
      multiple: true,
      value: 'ADDRESS',
      help: 'an address or CIDR that is never banned; may be given again',
    },
    most: { type: 'string', value: 'TIME', help: 'the longest ban; default 1d' },
    size: {
      type: 'string',
      value: 'N',
      help: `addresses that are banned at one time; default ${DEFAULT_SIZE}`,
    },
  },
  notes: `Each line is a JSON object with "ip" and "for", a duration or milliseconds, such as
{"ip": "192.0.2.1", "for": "15m"}. An IPv6 address is banned with its /64. Connections that this machine
itself opens are not touched. Loopback, this machine's own addresses, --admin and --allow are never banned.

It needs the program nft and the capability CAP_NET_ADMIN, and nothing else. Bans end by themselves, also
when it has ended; when it starts, earlier ones are forgotten.`,
  async run(_operands, values, io) {
    const { admin = [], allow = [] } = values
    if (admin.length === 0)
      throw new UsageError('say with --admin from which addresses you reach this machine')
    for (const text of [...admin, ...allow]) {
      if (parseCidr(text) === undefined) throw new UsageError(`${JSON.stringify(text)} is no address or CIDR`)
    }
    const never = neverBanned([...admin, ...allow])
    const most = timeFrom(values.most ?? '1d')
    const firewall = new Firewall(io.env)
    await firewall.open(never, sizeFrom(values.size))
    io.stderr.write('bans are in force: table inet sluice_ban\n')
    const networks = networksOfKey(never)
    const queue = new BanQueue(firewall, complaints(io.stderr))
    const stop = (): void => void io.stdin.destroy()
    for (const signal of SIGNALS) io.on(signal, stop)
    try {
      for await (const line of textLines(io.stdin)) await queue.add(offenderOf(line, networks, most))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error // a signal
    } finally {
      for (const signal of SIGNALS) io.off(signal, stop)
    }
    await queue.done()
    return 0
  },
})

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Says each kind of complaint once, so that a flood of lines is none of complaints. */
function complaints(output: Output): (why: string) => void {
  const known = new Set<string>()
  return (why) => {
    if (known.has(why) || known.size === MOST_COMPLAINTS) return
    known.add(why)
    output.write(`sluice: ${printable(why, 200)}\n`)
  }
}

function timeFrom(text: string): number {
  try {
    const ms = ticksOf(text) / TICKS_PER_MS
    if (ms >= 1_000) return ms
  } catch {
    // said below
  }
  throw new UsageError(`--most must be a duration from 1s, such as 1d, not ${JSON.stringify(text)}`)
}

function sizeFrom(text: string | undefined): number {
  if (text === undefined) return DEFAULT_SIZE
  const size = Number(text)
  if (/^\d+$/.test(text) && size >= 1 && size <= 10_000_000) return size
  throw new UsageError(`--size must be a whole number from 1 to 10000000, not ${JSON.stringify(text)}`)
}
