import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { bannerOf } from './banner.ts'

const body = { domain: "it's", request: { path: '/$HOME/`id`/"\\' } }

describe('the banner', () => {
  it('holds lines that a shell takes as they are meant', () => {
    const addresses = { http: 'http://127.0.0.1:8080', admin: 'http://[::1]:6070' }
    const lines = bannerOf(addresses, [{ rule: 'r\nfalse', body }]).split('\n')
    const [check, live] = lines.filter((line) => line.startsWith('  curl '))
    const told = (line: string): string[] =>
      execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${line}`])
        .toString()
        .trimEnd()
        .split('\n')
    expect(told(check!)).toEqual([
      '-s',
      'http://127.0.0.1:8080/v1/check',
      '-H',
      'content-type: application/json',
      '-d',
      JSON.stringify(body),
    ])
    expect(told(live!)).toEqual(['-s', 'http://[::1]:6070/v1/rules'])
  })
})
