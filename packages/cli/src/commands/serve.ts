import { existsSync } from 'node:fs'
import type { Telemetry } from '@sluice/service/opentelemetry'
import { type Command, defineCommand } from '../command.ts'
import type { Io } from '../io.ts'
import { pageUrl } from '../pages.ts'
import { checkPaths } from '../rules.ts'
import { bannerOf } from '../serve/banner.ts'
import { deadlineWarning } from '../serve/deadline-warning.ts'
import { flagsOf } from '../serve/flags.ts'
import { logStream } from '../serve/log-stream.ts'
import { SERVE_OPTIONS } from '../serve/options.ts'
import { type Sample, samplesOf } from '../serve/sample.ts'
import { readSettings } from '../serve/settings.ts'
import { strayVariables } from '../serve/sources.ts'
import { prepareStore, STORE_NOTES, warnOfPassword } from '../stores.ts'
import { UsageError } from '../usage-error.ts'

const DEFAULT_RULES = SERVE_OPTIONS.rules!.default!

/** What a store that does not answer means. */
const UNTIL_THEN = `Until it does, on_store_error of each rule decides. --store chooses another; see ${pageUrl('operate.md#redis')}`

/** Runs the service until it is stopped. */
export const serve: Command = defineCommand({
  name: 'serve',
  summary: 'runs the service',
  operands: '[RULES…]',
  options: flagsOf(SERVE_OPTIONS),
  notes: `RULES are YAML files, and folders of them, taken as one rulebook; default ${DEFAULT_RULES}.

Each option is also a variable, --max-keys is SLUICE_MAX_KEYS, and a line of the file that --config names,
max-keys: 5000. Values of a list are separated by commas in a variable. What the command line says counts
before the environment, and that before the file.

SIGHUP reloads; with any mistake in the rules those in force stay. SIGTERM and SIGINT answer what is in
flight and stop; a second one ends at once.

${STORE_NOTES}`,
  flushMs: 1_000,
  async run(operands, values, io) {
    const { createService } = await import('@sluice/service') // others need not wait for it
    const { settings, from, apply } = await readSettings(SERVE_OPTIONS, operands, values, io)
    const warn = (message: string): void => void io.stderr.write(`sluice: ${message}\n`)
    for (const stray of strayVariables(io.env, SERVE_OPTIONS))
      warn(`${stray} See ${pageUrl('cli.md#settings')}`)
    const unfit = deadlineWarning(settings)
    if (unfit !== undefined) warn(unfit)
    const { storeUrl, logLevel, logFormat, logRefusals, otel = false, ...options } = settings
    if (from('store') === '--store') warnOfPassword(storeUrl, io)
    let close = async (): Promise<void> => undefined
    try {
      const { store, problem } = await apply(() =>
        prepareStore(storeUrl, options.fallback?.local ?? {}, from('store')),
      )
      close = async () => store.close()
      const stream = await logStream(io.stdout, logFormat, io.env)
      const log = { level: logLevel, stream, refusals: logRefusals }
      if (options.xds !== undefined && from('rules') !== undefined)
        throw new UsageError(`${from('rules')} has no effect beside ${from('xds')}: the rules are sent`)
      if (options.record !== undefined && from('record') === undefined)
        throw new UsageError('the settings record-… have no effect without --record FILE')
      const files = options.xds === undefined ? options.rules : []
      const telemetry = otel ? await apply(telemetryOf) : undefined
      const service = await apply(() =>
        createService({ ...options, rules: files, store, log, ...(telemetry && { telemetry }) }),
      )
      if (files.length > 0 && from('rules') === undefined && !existsSync(DEFAULT_RULES))
        throw new UsageError(`there is no ${DEFAULT_RULES} here: name your rulebook, as in sluice serve FILE`)
      let samples: readonly Sample[] = []
      if (files.length > 0) {
        checkPaths(files)
        const { domains, rules } = await service.load()
        samples = samplesOf(domains, rules)
      }
      const found = await problem()
      if (found !== undefined) warn(`the store does not answer: ${found}\n${UNTIL_THEN}`)
      const addresses = await apply(() => service.start())
      const stopped = untilStopped(service, io) // signals may arrive as soon as the banner is printed
      io.stderr.write(bannerOf(addresses, samples))
      await stopped
      return 0
    } finally {
      await close()
    }
  },
})

/** Loaded only where it is wanted. */
async function telemetryOf(): Promise<Telemetry> {
  const { openTelemetry } = await import('@sluice/service/opentelemetry')
  return openTelemetry()
}

interface Running {
  stop(): Promise<void>
  reload(): Promise<unknown>
}

/** Every signal asks the service to stop; asked twice, it hurries. */
async function untilStopped(service: Running, io: Io): Promise<void> {
  const reload = (): void => void service.reload()
  let stop = (): void => undefined
  const stopped = new Promise<void>((resolve, reject) => {
    stop = () => void service.stop().then(resolve, reject)
  })
  io.on('SIGHUP', reload)
  io.on('SIGTERM', stop)
  io.on('SIGINT', stop)
  try {
    await stopped
  } finally {
    io.off('SIGHUP', reload)
    io.off('SIGTERM', stop)
    io.off('SIGINT', stop)
  }
}
