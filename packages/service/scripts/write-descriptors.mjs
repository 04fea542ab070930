// Writes src/grpc/descriptor-set.ts from proto/: what reflection answers, and what messages are read by. Needs protoc
// (Debian: protobuf-compiler, libprotobuf-dev): npm run descriptors -w packages/service
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'sluice-descriptors-'))
const out = join(folder, 'set')
const files = readdirSync(join(ROOT, 'proto'), { recursive: true })
  .filter((file) => file.endsWith('.proto'))
  .sort()
execFileSync('protoc', [
  '-I',
  join(ROOT, 'proto'),
  '-I',
  '/usr/include',
  '--include_imports',
  `--descriptor_set_out=${out}`,
  ...files,
])
const lines = readFileSync(out)
  .toString('base64')
  .match(/.{1,100}/g)
rmSync(folder, { recursive: true })
writeFileSync(
  join(ROOT, 'src/grpc/descriptor-set.ts'),
  `/** A FileDescriptorSet of proto/ and what it imports, in base64: written by scripts/write-descriptors.mjs. */
export const DESCRIPTOR_SET: string = [
${lines.map((line) => `  '${line}',`).join('\n')}
].join('')
`,
)
