import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { commands } from './commands.ts'
import { main } from './main.ts'
import { fakeIo, runLine } from './testing.ts'

describe('sluice', () => {
  it('shows its commands, and each command its options', async () => {
    const overview = await runLine(['--help'])
    expect(overview).toMatchObject({ code: 0, err: '' })
    for (const [name, load] of Object.entries(commands)) {
      const { name: own, options } = await load()
      expect(own).toBe(name)
      expect(overview.out).toContain(`  ${name} `)
      const help = await runLine([name, '--help'])
      expect(help).toMatchObject({ code: 0, err: '' })
      expect(help.out).toMatch(new RegExp(`^Usage: sluice ${name}`))
      for (const option of Object.keys(options)) expect(help.out).toContain(`--${option}`)
      expect(Math.max(...help.out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110)
    }
  })

  // The service and the reader of rulebooks took four fifths of the time of `sluice --version`.
  it('loads no package but the errors before it knows its command', () => {
    expect(packagesOf('main.ts')).toEqual(new Set(['@sluice/limiter/errors']))
  })

  it('shows its version', async () => {
    expect(await runLine(['--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^sluice \d+\.\d+\.\d+\n$/),
    })
  })

  it.each([
    [[], /^Usage: sluice COMMAND/],
    [['serv'], /unknown command "serv" \(did you mean "serve"\?\)\nSee sluice --help/],
    [['--verison'], /unknown option "--verison" \(did you mean "--version"\?\)/],
    [
      ['check', '--fromat', 'json', 'x'],
      /unknown option "--fromat" \(did you mean "--format"\?\)\nSee sluice check --help/,
    ],
    [['check', '--format', 'jsn', 'x'], /unknown --format "jsn" \(did you mean "json"\?\)/],
    [['check', '--format', 'json', '--format', 'text', 'x'], /--format is given twice/],
    [['check', '--format'], /--format/],
    [['serve', '--watch=yes', 'x'], /--watch/],
    [['check'], /name at least one rulebook/],
    [['check', 'nowhere.yaml'], /cannot read nowhere\.yaml: there is no such file/],
    [['simulate', 'x'], /name the log/],
    [['conform'], /name at least one file/],
    [['conform', 'nowhere.json'], /cannot read nowhere\.json: there is no such file/],
  ])('used wrongly, as %j, says how on standard error and exits 2', async (argv, message) => {
    const { code, out, err } = await runLine(argv)
    expect(err).toMatch(message)
    expect(err).not.toMatch(/\n {4}at /)
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })

  it('does not mind that nobody reads to the end', async () => {
    const stdout = new PassThrough()
    const failing = { ...fakeIo().io, stdout }
    const done = main(['--help'], failing)
    stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    expect(await done).toBe(0)
  })

  it('does mind that nothing can be written', async () => {
    const { io, err } = fakeIo()
    const stdout = new PassThrough()
    const done = main(['--help'], { ...io, stdout })
    stdout.destroy(Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' }))
    expect(await done).toBe(2)
    expect(err()).toBe('sluice: no space left on device\n')
  })
})

/** The packages that a file and those that it imports load at once: not types, and not by `import()`. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return new Set()
  seen.add(file)
  const text = readFileSync(new URL(file, import.meta.url), 'utf8')
  const imported = [...text.matchAll(/^import (?!type )[^;]*? from '([^']+)'/gm)].map(([, from]) => from!)
  const own = imported.filter((from) => from.startsWith('./')).flatMap((from) => [...packagesOf(from, seen)])
  return new Set([...imported.filter((from) => !/^(\.|node:)/.test(from)), ...own])
}
