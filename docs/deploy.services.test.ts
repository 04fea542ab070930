import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { contextOf, environmentOf, lastOf, type Stage, stagesOf, wordsOf } from './dockerfile.ts'
import { ROOT } from './page.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `sluice-${name}-`))
  folders.push(folder)
  return folder
}

describe('the systemd unit', () => {
  const unit = readFileSync(join(ROOT, 'deploy/systemd/sluice.service'), 'utf8')

  /** A machine's files: systemd's own units, the program, our unit and its secrets. */
  function machineWith(text: string): string {
    const root = newFolder('machine')
    const put = (path: string, content: string): void => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    }
    cpSync('/lib/systemd/system', join(root, 'lib/systemd/system'), {
      recursive: true,
      verbatimSymlinks: true,
    })
    put('etc/systemd/system/sluice.service', text)
    put(
      'etc/systemd/system/sluice.service.d/secrets.conf',
      readFileSync(join(ROOT, 'deploy/systemd/secrets.conf'), 'utf8'),
    )
    for (const program of ['usr/local/bin/sluice', 'bin/kill']) {
      put(program, '#!/bin/sh\n')
      chmodSync(join(root, program), 0o755)
    }
    return root
  }

  const analyze = (root: string, ...argv: string[]) => {
    const { status, stdout, stderr } = spawnSync(
      'systemd-analyze',
      [...argv, `--root=${root}`, 'sluice.service'],
      {
        encoding: 'utf8',
      },
    )
    return { status, stdout, stderr }
  }

  test('has no mistake that systemd finds', () => {
    expect(analyze(machineWith(unit), 'verify')).toMatchObject({ status: 0, stderr: '' })
  })

  test.each([
    ['ProtectHome', 'ProtectHom', /Unknown key/],
    ['@system-service', '@system-servce', /Unknown system call group/],
    ['/usr/local/bin/sluice', '/usr/local/bin/slice', /is not executable/],
  ])('with %s written %s has one', (right, wrong, message) => {
    expect(analyze(machineWith(unit.replace(right, wrong)), 'verify').stderr).toMatch(message)
  })

  test('lets the service do little', () => {
    const { status, stdout } = analyze(
      machineWith(unit),
      'security',
      '--offline=true',
      '--no-pager',
      '--threshold=20',
    )
    expect(stdout).toMatch(/Overall exposure level for sluice\.service: 1\.\d OK/)
    expect(status).toBe(0)
  })
})

/**
 * Carries out the lines of each stage, each in a folder which is its root. A RUN goes by paths from its WORKDIR, so it
 * is run as it is written; only mounts are for Docker alone.
 */
function carryOut(stages: readonly Stage[]): string {
  const root = newFolder('image')
  const { npm_config_local_prefix: _, NODE_ENV: __, ...own } = process.env
  const context = contextOf(ROOT)
  let workFolder = ''
  stages.forEach(({ name, instructions }, i) => {
    const home = join(root, name ?? String(i))
    const env: NodeJS.ProcessEnv = { ...own, npm_config_prefer_offline: 'true' }
    for (const { name: what, rest } of instructions) {
      if (what === 'WORKDIR') workFolder = join(home, rest)
      if (what === 'WORKDIR') mkdirSync(workFolder, { recursive: true })
      if (what === 'ENV') Object.assign(env, Object.fromEntries([rest.split('=', 2)]))
      if (what === 'RUN') {
        const command = rest.replace(/^(--mount=\S+ )+/, '')
        const { status, stderr } = spawnSync('sh', ['-c', command], {
          cwd: workFolder,
          env,
          encoding: 'utf8',
        })
        expect(status, `${rest}\n${stderr}`).toBe(0)
      }
      if (what !== 'COPY') continue
      const [, from, source, target] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(rest)!
      const files = from === undefined && source === '.' ? context : [source!]
      for (const file of files) {
        const origin = from === undefined ? join(ROOT, file) : join(root, from, file)
        const isFolder = lstatSync(origin).isDirectory()
        const to = join(workFolder, target!, isFolder ? '' : source === '.' ? file : file.split('/').at(-1)!)
        cpSync(origin, to, { recursive: true, verbatimSymlinks: true })
      }
    }
  })
  return workFolder
}

describe('the image', () => {
  const stages = stagesOf(readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8'))
  const image = stages.at(-1)!

  test('comes from its lines, has the published packages, runs, and says whether it is healthy', {
    timeout: 600_000,
  }, async () => {
    const folder = carryOut(stages)
    const pack = join(folder, 'node_modules/@sluice/service')
    expect(lstatSync(pack).isSymbolicLink()).toBe(false)
    expect(existsSync(join(pack, 'src/service.ts'))).toBe(true)
    expect(existsSync(join(pack, 'src/service.services.test.ts'))).toBe(false)
    expect(existsSync(join(folder, 'node_modules/typescript'))).toBe(false)
    const [lock, own] = [join(ROOT, 'package-lock.json'), join(folder, 'package-lock.json')].map(
      (file) => JSON.parse(readFileSync(file, 'utf8')).packages as Record<string, { version: string }>,
    )
    const others = Object.keys(own!).filter((name) => name !== '' && !name.includes('@sluice/'))
    expect(others.length).toBeGreaterThan(50)
    expect(others.filter((name) => own![name]!.version !== lock![name]?.version)).toEqual([])

    const [program, ...argv] = [...wordsOf(lastOf(image, 'ENTRYPOINT')), ...wordsOf(lastOf(image, 'CMD'))]
    const child = spawn(program!, argv, {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        ...environmentOf(image),
        SLUICE_RULES: join(ROOT, 'examples/rulebook'),
        SLUICE_HTTP: '127.0.0.1:0',
        SLUICE_ADMIN: '127.0.0.1:0',
      },
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    try {
      let err = ''
      child.stderr.on('data', (chunk) => {
        err += chunk
      })
      await vi.waitFor(() => expect(err).toMatch(/\/v1\/rules\n/), 60_000)
      const [, admin] = err.match(/http:\/\/[\d.]+:\d+/g)!
      const [checker, ...words] = wordsOf(lastOf(image, 'HEALTHCHECK')).map((word) =>
        word.replace('http://127.0.0.1:6070', admin!),
      )
      expect(spawnSync(checker!, words).status).toBe(0)
      child.kill('SIGTERM')
      expect(await ended).toBe(0)
      expect(spawnSync(checker!, words).status).toBe(1)
    } finally {
      child.kill('SIGKILL')
    }
  })
})
