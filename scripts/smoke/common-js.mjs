// An ES module as those write it who have CommonJS. Strict: what is not known here is an error.

const IMPORT = /^import (?:(?:(\w+)|\{([^{}]*)\}) from )?('[^'\n]+')\n/

/** Imports become `require()`. */
export function toCommonJs(text) {
  const [imports, body] = parted(text)
  const requires = imports.map((line) => {
    const [, whole, names, from] = IMPORT.exec(line)
    const bound = whole ?? (names && `{${names.replace(/ as /g, ': ')}}`)
    return `${bound === undefined ? '' : `const ${bound} = `}require(${from})\n`
  })
  return [...requires, withoutTopLevelAwait(body)].join('')
}

/** TypeScript does the imports; only `await` cannot stay. */
export function toCommonJsTypeScript(text) {
  const [imports, body] = parted(text)
  return [...imports, withoutTopLevelAwait(body)].join('')
}

function parted(text) {
  let body = text.replace(/^\/\/.*\n/, '')
  const imports = []
  for (let found = IMPORT.exec(body); found !== null; found = IMPORT.exec(body)) {
    imports.push(found[0])
    body = body.slice(found[0].length)
  }
  const [odd] = /^\s*(?:import|export)\b.*|.*\bimport[(.].*/m.exec(body) ?? []
  if (odd !== undefined) throw new Error(`no CommonJS is known for: ${odd.trim()}`)
  return [imports, body]
}

function withoutTopLevelAwait(body) {
  const waits = /^(?!async )\S[^\n]*\bawait /m.test(body)
  return waits ? `async function main() {\n${body}}\nmain()\n` : body
}
