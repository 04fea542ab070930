import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Ran, runLine } from '../testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-compare-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const old = write(
  'old.yaml',
  'domain: shop\nlimits: [{ name: login, key: [ip], limit: 5/minute, algorithm: fixed-window }]\n',
)
const tight = write(
  'new.yaml',
  'domain: shop\nlimits: [{ name: login, key: [ip], limit: 2/minute, algorithm: fixed-window }]\n',
)
const LOG = [0, 1, 2, 3, 4, 5]
  .map((second) => `192.0.2.1 - - [17/May/2015:10:05:0${second} +0000] "POST /a|b\`c HTTP/1.1" 200 5\n`)
  .join('')

function compare(...argv: string[]): Promise<Ran> {
  return runLine(['compare', old, tight, '--log', '-', ...argv], LOG)
}

describe('sluice compare', () => {
  it('says what changes, as Markdown', async () => {
    expect(await compare()).toEqual({
      code: 0,
      err: '',
      out: `## Rules, old and new, on \`standard input\`

6 requests, 0 unreadable lines.

|              |         old |         new |
| ------------ | ----------: | ----------: |
| refused      | 1 (16.67 %) | 4 (66.67 %) |
| over \`login\` |      1 of 6 |      4 of 6 |

### Newly refused: 3 requests (50.00 %), 1 key

First 2015-05-17T10:05:02.000Z, last 2015-05-17T10:05:04.000Z; worst minute 2015-05-17T10:05:00.000Z with 3.

| refused by | requests |
| ---------- | -------: |
| \`login\`    |        3 |

| key         |      of | requests |
| ----------- | ------: | -------: |
| \`192.0.2.1\` | \`login\` |        3 |

| route         | requests |
| ------------- | -------: |
| \`POST /a¦b'c\` |        3 |

### Newly admitted: none
`,
    })
  })

  it('Acceptance 15.1: exits with 1 when more change than may', async () => {
    for (const [most, code] of [
      ['3', 0],
      ['2', 1],
      ['50%', 0],
      ['49.9%', 1],
      ['0', 1],
    ] as const) {
      const ran = await compare('--max-newly-denied', most, '--format', 'json')
      expect([most, ran.code]).toEqual([most, code])
      expect(JSON.parse(ran.out)).toMatchObject({
        newlyDenied: { requests: 3 },
        newlyAdmitted: { requests: 0 },
      })
    }
  })

  it.each([
    [[old], 'name two rulebooks'],
    [[old, tight], 'name the log'],
    [
      [old, tight, '--log', '-', '--max-newly-denied', 'few'],
      '--max-newly-denied must be a count, or a share',
    ],
    [[old, join(folder, 'gone.yaml'), '--log', '-'], 'gone.yaml: there is no such file'],
    [[old, tight, '--log', '-', '--log', 'x'], 'standard input can only be read alone'],
  ])('used wrongly, as %j, exits 2', async (argv, message) => {
    const { code, out, err } = await runLine(['compare', ...argv], LOG)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(message)
  })

  it('exits 2 when nothing in the file is a request', async () => {
    const { code, err } = await runLine(['compare', old, tight, '--log', '-'], 'one\n')
    expect([code, err.split('\n')[0]]).toEqual([2, 'sluice: no line of standard input can be read.'])
  })
})
