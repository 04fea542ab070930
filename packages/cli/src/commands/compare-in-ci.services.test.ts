import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../../../..')
const WORKFLOW = join(ROOT, 'examples/compare-in-ci/compare-rules.yaml')

interface Workflow {
  readonly on: { readonly pull_request: { readonly paths: readonly string[] } }
  readonly jobs: {
    readonly compare: {
      readonly env: Readonly<Record<string, string>>
      readonly steps: readonly { readonly name?: string; readonly run?: string }[]
    }
  }
}

const workflow = parse(readFileSync(WORKFLOW, 'utf8')) as Workflow

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-ci-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const rulebook = (limit: number): string =>
  `domain: shop\nlimits: [{ name: login, key: [ip], limit: ${limit}/minute, algorithm: fixed-window }]\n`
const LOG = Array.from(
  { length: 10 },
  (_, i) => `192.0.2.1 - - [17/May/2015:10:05:0${i} +0000] "POST /login HTTP/1.1" 200 5\n`,
).join('')

/** A repository whose branch changes the limit, and what the workflow's steps make of it. */
function runWorkflow(from: number, to: number): { comment: string; summary: string; verdict: number | null } {
  const [repository, temp, bin] = ['repository', 'temp', 'bin'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [join(repository, 'rules'), join(repository, 'traffic'), temp, bin])
    mkdirSync(path, { recursive: true })
  const git = (...argv: string[]): void => {
    const config = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main']
    execFileSync('git', [...config, ...argv], { cwd: repository, stdio: 'ignore' })
  }
  git('init')
  writeFileSync(join(repository, 'rules/shop.yaml'), rulebook(from))
  writeFileSync(join(repository, 'traffic/day.log.gz'), gzipSync(LOG))
  git('add', '.')
  git('commit', '-m', 'old')
  git('update-ref', 'refs/remotes/origin/main', 'HEAD')
  writeFileSync(join(repository, 'rules/shop.yaml'), rulebook(to))
  // What npx would install, from here.
  const npx = `#!/bin/sh\n[ "$1 $2 $3 $4" = "--yes --package @sluice/cli sluice" ] || exit 9\nshift 4\nexec "${process.execPath}" "${join(ROOT, 'packages/cli/bin/sluice.js')}" "$@"\n`
  writeFileSync(join(bin, 'npx'), npx)
  chmodSync(join(bin, 'npx'), 0o755)
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    RUNNER_TEMP: temp,
    GITHUB_BASE_REF: 'main',
    GITHUB_STEP_SUMMARY: join(folder, 'summary'),
    GITHUB_OUTPUT: join(folder, 'output'),
    ...workflow.jobs.compare.env,
  }
  const step = (name: string, more: Readonly<Record<string, string>> = {}) =>
    spawnSync('bash', ['-e', '-c', workflow.jobs.compare.steps.find((each) => each.name === name)!.run!], {
      cwd: repository,
      env: { ...env, ...more },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const compared = step('Compare')
  expect({
    status: compared.status,
    stderr: compared.stderr.replace(/^(Preparing|HEAD).*$/gm, '').trim(),
  }).toEqual({
    status: 0,
    stderr: '',
  })
  expect(readFileSync(join(repository, 'comparison.html'), 'utf8')).toContain('"newlyDenied"')
  const [, code = ''] = /^code=(\d)$/m.exec(readFileSync(env.GITHUB_OUTPUT, 'utf8'))!
  return {
    comment: readFileSync(join(temp, 'comparison.md'), 'utf8'),
    summary: readFileSync(env.GITHUB_STEP_SUMMARY, 'utf8'),
    verdict: step('Verdict', { CODE: code }).status,
  }
}

describe('the workflow that compares rules', () => {
  it('runs where rules change', () => {
    expect(workflow.on.pull_request.paths).toEqual(['rules/**'])
  })

  it('Acceptance 15.1: comments, and fails where too much is newly refused', () => {
    const { comment, summary, verdict } = runWorkflow(10, 4)
    expect(comment).toContain('### Newly refused: 6 requests (60.00 %), 1 key')
    expect(summary).toBe(comment)
    expect(verdict).toBe(1)
  })

  it('passes where nothing is', () => {
    const { comment, verdict } = runWorkflow(4, 10)
    expect(comment).toContain('### Newly refused: none')
    expect(comment).toContain('### Newly admitted: 6 requests')
    expect(verdict).toBe(0)
  })
})
