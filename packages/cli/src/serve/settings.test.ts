import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService } from '@sluice/service'
import { afterAll, describe, expect, it } from 'vitest'
import { parseArguments } from '../arguments.ts'
import { fakeIo, type Ran, runLine } from '../testing.ts'
import { flagsOf } from './flags.ts'
import { type ServeOption, variableOf } from './option-row.ts'
import { SERVE_OPTIONS } from './options.ts'
import { type ReadSettings, readSettings } from './settings.ts'
import { strayVariables } from './sources.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-settings-'))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
function fileOf(text: string): string {
  const path = join(folder, `${files++}.yaml`)
  writeFileSync(path, text)
  return path
}

function read(argv: readonly string[], env: Record<string, string> = {}): Promise<ReadSettings> {
  const { values, operands } = parseArguments(argv, flagsOf(SERVE_OPTIONS))
  return readSettings(SERVE_OPTIONS, operands, values, fakeIo('', env).io)
}

/** Two values of a setting, as they are written, that differ from its default. */
function examplesOf({ kind, choices, default: usual }: ServeOption): readonly [string, string] {
  if (choices !== undefined) {
    const others = choices.filter((choice) => choice !== usual)
    return [others[0]!, others[1] ?? usual!]
  }
  if (kind === 'number') return ['0.5', '0.25']
  if (kind === 'flag') return usual === 'true' ? ['false', 'true'] : ['true', 'false']
  return kind === 'time' ? ['3s', '4s'] : ['one', 'two']
}

const rows = Object.entries(SERVE_OPTIONS)

describe('each setting of serve', () => {
  it.each(rows)('%s is read from flag, environment, file and default, in this order', async (name, row) => {
    const [one, two] = examplesOf(row)
    const { settings: usual } = await read([])
    const shown = (value: string): string => (row.kind === 'paths' ? join(folder, value) : value)
    const flag =
      row.operands === true
        ? [shown(one)]
        : row.kind === 'flag'
          ? [one === 'true' ? `--${name}` : `--no-${name}`]
          : row.secret === 'hidden'
            ? [`--${name}-file`, fileOf(one)]
            : [`--${name}`, one]
    const config = (value: string): string[] => ['--config', fileOf(`${name}: ${value}\n`)]
    const variable = (value: string) => ({ [variableOf(name)]: shown(value) })
    const { settings: first, from } = await read(config(one))
    const { settings: second } = await read(config(two))
    expect(first).not.toEqual(second)
    expect(first).not.toEqual(usual)
    expect(from(name)).toMatch(new RegExp(`^${folder}/\\d+\\.yaml:1:${name.length + 3}: ${name}$`))
    const same = async (argv: string[], env: Record<string, string>, wanted: object): Promise<void> =>
      expect((await read(argv, env)).settings).toEqual(wanted)
    await same([], variable(one), first)
    await same(flag, {}, first)
    await same(config(two), variable(one), first)
    await same([...flag, ...config(two)], variable(two), first)
    await same([], { [variableOf(name)]: '' }, usual)
    await same([], { SLUICE_CONFIG: config(two)[1]! }, second)
  })

  it.each(rows.filter(([, { secret }]) => secret))('%s is also read from a file', async (name) => {
    const path = fileOf('one\n')
    const { settings } = await read([], { [variableOf(name)]: 'one' })
    expect((await read([`--${name}-file`, path])).settings).toEqual(settings)
    expect((await read([], { [`${variableOf(name)}_FILE`]: path })).settings).toEqual(settings)
    const config = ['--config', fileOf(`${name}-file: ${path.slice(folder.length + 1)}\n`)]
    expect((await read(config)).settings).toEqual(settings)
    expect((await read(config, { [variableOf(name)]: 'two' })).settings).not.toEqual(settings)
    await expect(read(['--config', fileOf(`${name}: one\n${name}-file: x\n`)])).rejects.toThrow(
      new RegExp(`\\.yaml:1:\\d+: ${name} and .*\\.yaml:2:\\d+: ${name}-file are both set`),
    )
  })

  it('has a default that the service takes, and is given to it', async () => {
    const { settings } = await read([])
    const { storeUrl: _, logLevel: level, logFormat, logRefusals, otel, ...options } = settings
    createService({ ...options, log: { level, refusals: logRefusals } })
    expect([logFormat, otel]).toEqual(['auto', false])
    expect(options).toMatchObject({ rules: ['rulebook.yaml'], http: '127.0.0.1:8080', drainMs: 10_000 })
  })
})

describe('a value that is wrong is named by where it was written', () => {
  const serve = (config: string | undefined, env = {}, ...argv: string[]): Promise<Ran> =>
    runLine(['serve', ...(config === undefined ? [] : ['--config', fileOf(config)]), ...argv], '', env)

  it.each([
    ['htpp: x', '1:1: unknown setting "htpp" (did you mean "http"?)'],
    ['# a comment\nlog-level: debgu', '2:12: log-level "debgu" (did you mean "debug"?)'],
    ['log_level: debug', '1:1: unknown setting "log_level" (did you mean "log-level"?)'],
    ['max-keys: 1e3', '1:11: max-keys must be a number, not "1e3"'],
    ['max-keys: 0', '1:11: max-keys must be a whole number from 1'],
    ['max-keys: 1.5', '1:11: max-keys must be a whole number from 1'],
    ['max-bytes: 200 apples', '1:12: max-bytes must be '],
    ['local-share: 2', '1:14: local-share must be a number above 0, up to 1'],
    ['http: 8080', '1:7: http: "8080" is not an address: write HOST:PORT'],
    ['http: [::1]:8080', '1:7: '],
    ['http: [a, b]', '1:7: http must be one text'],
    ['http:', '1:6: http has no value'],
    ['watch: yes', '1:8: watch must be true or false, not "yes"'],
    ['drain-time: soon', '1:13: drain-time must be a duration'],
    ['max-connections: 0', '1:18: max-connections must be a whole number from 1'],
    ['dialect: [ietf, gihub]', '1:17: dialect "gihub" (did you mean "github"?)'],
    ['admin-host: [a b]', '1:14: admin-host'],
    ['http: a:1\nhttp: b:1', '2:1: '],
    ['- http', '1:1: settings are written NAME: VALUE'],
    ['http: "a', '2:1: Missing closing'],
    ['[', '2:1: Flow sequence'],
    ['secret-file: nowhere', '1:14: secret-file: cannot read '],
    ['store: redsi://:hush@cache', '1:8: store: no such store'],
  ])('%j in a file: %s', async (config, message) => {
    const { code, out, err } = await serve(`${config}\n`)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err.replace('unknown log', 'log').replace('unknown dialect', 'dialect')).toContain(message)
    expect(err).not.toMatch(/\n {4}at |hush/)
  })

  it('all mistakes of a file are shown at once', async () => {
    const { err } = await serve('htpp: x\nadmn: y\n')
    expect(err).toMatch(/^sluice: \S+:1:1: .*"http"\?\)\n\S+:2:1: .*"admin"\?\)\n/)
  })

  it.each([
    [{ SLUICE_MAX_KEYS: 'many' }, 'SLUICE_MAX_KEYS must be a number, not "many"'],
    [{ SLUICE_HTTP: '8080' }, 'SLUICE_HTTP: "8080" is not an address'],
    [{ SLUICE_WATCH: '1' }, 'SLUICE_WATCH must be true or false, not "1"'],
    [{ SLUICE_DIALECT: 'ietf, gihub' }, 'unknown SLUICE_DIALECT "gihub" (did you mean "github"?)'],
    [{ SLUICE_CONFIG: '/nowhere.yaml' }, 'cannot read /nowhere.yaml: there is no such file'],
  ])('%j', async (env, message) => {
    const { code, err } = await serve(undefined, env)
    expect(code).toBe(2)
    expect(err).toContain(message)
  })

  it.each([
    [['--max-keys', '1e3'], '--max-keys must be a number, not "1e3"'],
    [['--tarpit', '2 hours'], '--tarpit'],
    [['--admin-host', 'a b'], '--admin-host: "a b" is not the name of a host'],
    [['--watch', '--no-watch'], '--watch and --no-watch are both given'],
    [['--secret', 'x'], '--secret-file'],
  ])('%j', async (argv, message) => {
    const { code, err } = await serve(undefined, {}, ...argv)
    expect(code).toBe(2)
    expect(err).toContain(message)
  })

  it('a variable that is nearly the name of one is a warning, what Kubernetes sets is not', () => {
    const env = {
      SLUICE_HTPP: 'x',
      SLUICE_PORT: 'tcp://10.0.0.1:8080',
      SLUICE_SERVICE_HOST: '10.0.0.1',
      SLUICE_ADMIN_SERVICE_PORT: '1',
      SLUICE_PORT_8080_TCP: 'x',
      SLUICE_STORE_FILE: 'x',
      SLUICE_WALKS: '1',
      HTTP: 'x',
    }
    expect(strayVariables(env, SERVE_OPTIONS)).toEqual([
      'SLUICE_HTPP is no setting: did you mean SLUICE_HTTP?',
    ])
  })
})
