// Writes the table of serve's settings into docs/cli.md, from the one in packages/cli/src/serve/options.ts.
//   npm run settings
import { readFileSync, writeFileSync } from 'node:fs'
import { settingsTable } from '../packages/cli/dist/serve/flags.js'

const PAGE = 'docs/cli.md'
const text = readFileSync(PAGE, 'utf8')
writeFileSync(
  PAGE,
  text.replace(/(<!-- settings:.*?-->\n).*?(\n<!-- \/settings -->)/s, (_, before, after) =>
    [before, settingsTable(), after].join('\n'),
  ),
)
