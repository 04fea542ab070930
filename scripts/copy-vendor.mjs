// tsc emits what it compiles; vendored files it only reads, so they are copied beside what needs them.
import { cpSync } from 'node:fs'

const core = new URL('../packages/limiter/', import.meta.url)
cpSync(new URL('src/core/identify/vendor/', core), new URL('dist/core/identify/vendor/', core), {
  recursive: true,
})
