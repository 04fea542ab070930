import { writeFile } from 'node:fs/promises'
import { rulebookSchema } from '@sluice/rulebook'

await writeFile(new URL('../rulebook.schema.json', import.meta.url), JSON.stringify(rulebookSchema()))
