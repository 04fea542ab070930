import { base64Value } from './structured-field.ts'

/** Integers and Decimals as numbers, Strings and Tokens as text, Byte Sequences as bytes. */
export type BareItem = number | string | boolean | Uint8Array

export interface Item {
  readonly value: BareItem
  readonly parameters: ReadonlyMap<string, BareItem>
}

/** How far a text has been read. */
interface Cursor {
  readonly text: string
  at: number
}

const INTEGER = /^-?\d{1,15}$/
const DECIMAL = /^-?\d{1,12}\.\d{1,3}$/
const NUMERIC = /[-\d.]/
const TOKEN_CHARACTER = /[\w:/!#$%&'*+.^`|~-]/
const KEY = /[a-z\d_.*-]/

/**
 * The items of a List (RFC 9651 §4.2.1); undefined for a text that is none, as the draft has it: one mistake, and the
 * field is ignored. More spaces than the grammar allows are accepted. Inner Lists, Dates and Display Strings are not.
 *
 * @example
 * readList('"hour";r=10;t=30')?.[0]?.parameters.get('r') // 10
 */
export function readList(text: string): readonly Item[] | undefined {
  return members(text, readItem)
}

/** The members of a Dictionary (RFC 9651 §4.2.2), under the same terms; of several with one key the last counts. */
export function readDictionary(text: string): ReadonlyMap<string, Item> | undefined {
  const found = members(text, readEntry)
  return found === undefined ? undefined : new Map(found)
}

/** A figure: a whole number that is not negative; undefined for all else. */
export function wholeOf(value: BareItem | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined
}

/** The same, and above 0. */
export function positiveOf(value: BareItem | undefined): number | undefined {
  return wholeOf(value) === 0 ? undefined : wholeOf(value)
}

/** Parts between commas; undefined as soon as one cannot be read, or the last comma has nothing behind it. */
function members<T>(text: string, read: (cursor: Cursor) => T | undefined): T[] | undefined {
  const cursor = { text, at: 0 }
  const found: T[] = []
  skipSpace(cursor)
  if (cursor.at === text.length) return found
  do {
    skipSpace(cursor)
    const member = read(cursor)
    if (member === undefined) return undefined
    found.push(member)
    skipSpace(cursor)
  } while (take(cursor, ','))
  return cursor.at === text.length ? found : undefined
}

function readItem(cursor: Cursor): Item | undefined {
  const value = readBareItem(cursor)
  return value === undefined ? undefined : withParameters(cursor, value)
}

/** `key=item`, or `key` alone, which stands for true. */
function readEntry(cursor: Cursor): [string, Item] | undefined {
  const key = readKey(cursor)
  if (key === undefined) return undefined
  const item = takeEquals(cursor) ? readItem(cursor) : withParameters(cursor, true)
  return item === undefined ? undefined : [key, item]
}

function withParameters(cursor: Cursor, value: BareItem): Item | undefined {
  const parameters = new Map<string, BareItem>()
  skipSpace(cursor)
  while (take(cursor, ';')) {
    skipSpace(cursor)
    const key = readKey(cursor)
    if (key === undefined) return undefined
    const parameter = takeEquals(cursor) ? readBareItem(cursor) : true
    if (parameter === undefined) return undefined
    parameters.set(key, parameter)
    skipSpace(cursor)
  }
  return { value, parameters }
}

function readKey(cursor: Cursor): string | undefined {
  return /[a-z*]/.test(next(cursor)) ? takeWhile(cursor, KEY) : undefined
}

function readBareItem(cursor: Cursor): BareItem | undefined {
  const first = next(cursor)
  if (first === '"') return readString(cursor)
  if (first === ':') return readBytes(cursor)
  if (first === '?') return readBoolean(cursor)
  if (/[-\d]/.test(first)) return readNumber(cursor)
  return /[A-Za-z*]/.test(first) ? takeWhile(cursor, TOKEN_CHARACTER) : undefined
}

function readNumber(cursor: Cursor): number | undefined {
  const text = takeWhile(cursor, NUMERIC)
  return INTEGER.test(text) || DECIMAL.test(text) ? Number(text) : undefined
}

function readBoolean(cursor: Cursor): boolean | undefined {
  const text = cursor.text.slice(cursor.at, cursor.at + 2)
  cursor.at += 2
  return text === '?1' ? true : text === '?0' ? false : undefined
}

/** Printable ASCII in quotes, where a backslash stands before a quote or a backslash and nowhere else. */
function readString(cursor: Cursor): string | undefined {
  let value = ''
  for (cursor.at++; cursor.at < cursor.text.length; cursor.at++) {
    let character = next(cursor)
    if (character === '"') {
      cursor.at++
      return value
    }
    if (character === '\\') {
      cursor.at++
      character = next(cursor)
      if (character !== '"' && character !== '\\') return undefined
    }
    if (!/[ -~]/.test(character)) return undefined
    value += character
  }
  return undefined
}

/** Base64 between colons; without padding too, and with bits beyond the last byte, which real examples have. */
function readBytes(cursor: Cursor): Uint8Array | undefined {
  const end = cursor.text.indexOf(':', cursor.at + 1)
  if (end < 0) return undefined
  const digits = cursor.text.slice(cursor.at + 1, end).replace(/={1,2}$/, '')
  cursor.at = end + 1
  if (digits.length % 4 === 1) return undefined
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4))
  let held = 0
  for (let i = 0; i < digits.length; i++) {
    const value = base64Value(digits[i]!)
    if (value < 0) return undefined
    held = ((held << 6) | value) & 0xfff
    const ends = Math.floor(((i + 1) * 6) / 8)
    if (ends > Math.floor((i * 6) / 8)) bytes[ends - 1] = held >> (((i + 1) * 6) % 8)
  }
  return bytes
}

/** The character that comes next; `''` at the end. */
function next({ text, at }: Cursor): string {
  return text.charAt(at)
}

function take(cursor: Cursor, character: string): boolean {
  const found = next(cursor) === character
  if (found) cursor.at++
  return found
}

function takeEquals(cursor: Cursor): boolean {
  skipSpace(cursor)
  const found = take(cursor, '=')
  if (found) skipSpace(cursor)
  return found
}

function skipSpace(cursor: Cursor): void {
  while (next(cursor) === ' ' || next(cursor) === '\t') cursor.at++
}

/** All characters from here on that the pattern accepts. */
function takeWhile(cursor: Cursor, pattern: RegExp): string {
  const from = cursor.at
  while (cursor.at < cursor.text.length && pattern.test(next(cursor))) cursor.at++
  return cursor.text.slice(from, cursor.at)
}
