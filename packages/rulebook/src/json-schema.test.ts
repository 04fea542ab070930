import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { rulebookSchema } from './json-schema.ts'

type Json = Readonly<Record<string, unknown>>

const fixtures = new URL('../fixtures/', import.meta.url)
const inFolder = (folder: string): [string, unknown][] =>
  readdirSync(new URL(folder, fixtures)).map((file) => [
    file,
    parse(readFileSync(new URL(`${folder}/${file}`, fixtures), 'utf8')),
  ])

describe('the JSON Schema', () => {
  const schema = z.fromJSONSchema(rulebookSchema())

  it('is the published one: npm run schema writes it, after a build', () => {
    const published = readFileSync(new URL('../rulebook.schema.json', import.meta.url), 'utf8')
    expect(JSON.parse(published)).toEqual(rulebookSchema())
  })

  it.each(inFolder('valid'))('takes %s', (_, document) => {
    expect(schema.safeParse(document).error).toBeUndefined()
  })

  it.each(
    inFolder('mistakes').filter(([file]) =>
      /^(field-mis|list-of|leaf-of|key-missing|domain-missing)/.test(file),
    ),
  )('refuses %s', (_, document) => {
    expect(schema.safeParse(document).success).toBe(false)
  })

  it('describes every field', () => {
    const mute: string[] = []
    const walk = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return
      for (const [name, field] of Object.entries((node as Json).properties ?? {})) {
        if (!JSON.stringify(field).includes('"description"')) mute.push(`${path}.${name}`)
      }
      for (const [name, child] of Object.entries(node)) walk(child, `${path}.${name}`)
    }
    walk(rulebookSchema(), '')
    expect(mute).toEqual([])
  })
})
