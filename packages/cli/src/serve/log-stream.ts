import type { Output } from '../io.ts'
import type { ServeSettings } from './option-row.ts'

/** Where the service writes its log: lines of JSON as they are, or made for people. */
export interface LogStream {
  write(line: string): void
  /** Bytes that wait until they are read: the service drops lines where there are too many. */
  readonly writableLength: number
}

/**
 * @param format `auto` is `pretty` where `output` is a terminal
 * @param env with NO_COLOR set, or TERM=dumb, lines for people have no colour
 */
export async function logStream(
  output: Output,
  format: ServeSettings['logFormat'],
  env: Readonly<Record<string, string | undefined>>,
): Promise<LogStream> {
  if (format === 'json' || (format === 'auto' && output.isTTY !== true)) return output
  const { prettyFactory } = await import('pino-pretty') // only where people look
  const pretty = prettyFactory({
    colorize: output.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb',
    ignore: 'pid,hostname,name',
    translateTime: 'SYS:HH:MM:ss',
  })
  return {
    write: (line) => void output.write(pretty(line)),
    get writableLength() {
      return output.writableLength
    },
  }
}
