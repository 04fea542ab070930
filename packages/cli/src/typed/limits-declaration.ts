import type { NamesRead } from './names-read.ts'

/** A declaration of `Limits`, the type that `createServiceClient<Limits>` takes. The same names give the same text. */
export function limitsDeclaration(domains: ReadonlyMap<string, NamesRead>): string {
  const written = sorted(domains.keys()).map((name) => domainText(name, domains.get(name)!))
  return `// Written by \`sluice types\`. Do not edit.

/** The limits of each domain with the parts of their keys, and the names that its rules read. */
export type Limits = {
${written.join('')}}
`
}

function domainText(name: string, { limits, headers, query, attributes, entries }: NamesRead): string {
  const own = sorted(limits.keys()).map(
    (limit) => `      ${propertyText(limit)}: ${unionOf(limits.get(limit)!)}\n`,
  )
  return `  ${propertyText(name)}: {
    limits: {
${own.join('')}    }
    headers: ${unionOf(headers)}
    query: ${unionOf(query)}
    attributes: ${unionOf(attributes)}
    entries: ${unionOf(entries, patternText)}
  }
`
}

function unionOf(names: ReadonlySet<string>, text: (name: string) => string = quoted): string {
  return names.size === 0 ? 'never' : sorted(names).map(text).join(' | ')
}

/** A key of descriptors in which `*` stands for any characters. */
function patternText(key: string): string {
  if (!key.includes('*')) return quoted(key)
  const parts = key.split('*').map((part) =>
    JSON.stringify(part)
      .slice(1, -1)
      .replace(/`|\$\{/g, '\\$&'),
  )
  return `\`${parts.join('${' + 'string}')}\``
}

function propertyText(name: string): string {
  return /^[a-z_$][\w$]*$/i.test(name) ? name : quoted(name)
}

/** With escapes only where there must be any. */
function quoted(name: string): string {
  return /^[ !#-&(-[\]-~]*$/.test(name) ? `'${name}'` : JSON.stringify(name)
}

/** By code units: in any language of the system alike. */
function sorted(names: Iterable<string>): string[] {
  return [...names].sort((a, b) => (a < b ? -1 : 1))
}
