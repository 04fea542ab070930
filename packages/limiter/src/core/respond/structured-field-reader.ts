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

/** Codes of characters that mean something. */
const TAB = 0x09
const SPACE = 0x20
const QUOTE = 0x22
const STAR = 0x2a
const COMMA = 0x2c
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const COLON = 0x3a
const SEMICOLON = 0x3b
const EQUALS = 0x3d
const QUESTION = 0x3f
const BACKSLASH = 0x5c
const UNDERSCORE = 0x5f

/** Token characters that are neither letters nor digits. */
const TOKEN_SIGNS = "_:/!#$%&'*+.^`|~-"

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
  } while (take(cursor, COMMA))
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
  while (take(cursor, SEMICOLON)) {
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
  const first = next(cursor)
  return isLower(first) || first === STAR ? takeWhile(cursor, isKeyPart) : undefined
}

function readBareItem(cursor: Cursor): BareItem | undefined {
  const first = next(cursor)
  if (isDigit(first) || first === MINUS) return readNumber(cursor)
  if (first === QUOTE) return readString(cursor)
  if (first === COLON) return readBytes(cursor)
  if (first === QUESTION) return readBoolean(cursor)
  return isLetter(first) || first === STAR ? takeWhile(cursor, isTokenPart) : undefined
}

/** At most 15 digits, or 12 before a point and from one to three behind it. */
function readNumber(cursor: Cursor): number | undefined {
  const from = cursor.at
  const sign = take(cursor, MINUS) ? -1 : 1
  const whole = cursor.at
  let value = 0
  for (let code = next(cursor); isDigit(code); code = next(cursor)) {
    value = value * 10 + code - ZERO
    cursor.at++
  }
  const digits = cursor.at - whole
  if (digits === 0 || digits > 15) return undefined
  if (!take(cursor, DOT)) return sign * value
  const point = cursor.at
  while (isDigit(next(cursor))) cursor.at++
  const decimals = cursor.at - point
  if (digits > 12 || decimals === 0 || decimals > 3) return undefined
  return Number(cursor.text.slice(from, cursor.at))
}

function readBoolean(cursor: Cursor): boolean | undefined {
  const text = cursor.text.slice(cursor.at, cursor.at + 2)
  cursor.at += 2
  return text === '?1' ? true : text === '?0' ? false : undefined
}

/** Printable ASCII in quotes, where a backslash stands before a quote or a backslash and nowhere else. */
function readString(cursor: Cursor): string | undefined {
  let value = ''
  let from = ++cursor.at
  for (; cursor.at < cursor.text.length; cursor.at++) {
    const code = next(cursor)
    if (code === QUOTE) return value + cursor.text.slice(from, cursor.at++)
    if (code < 0x20 || code > 0x7e) return undefined
    if (code !== BACKSLASH) continue
    value += cursor.text.slice(from, cursor.at++)
    from = cursor.at
    if (next(cursor) !== QUOTE && next(cursor) !== BACKSLASH) return undefined
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

/** The code of the character that comes next; NaN, which is none, at the end. */
function next({ text, at }: Cursor): number {
  return text.charCodeAt(at)
}

function take(cursor: Cursor, code: number): boolean {
  const found = next(cursor) === code
  if (found) cursor.at++
  return found
}

function takeEquals(cursor: Cursor): boolean {
  skipSpace(cursor)
  const found = take(cursor, EQUALS)
  if (found) skipSpace(cursor)
  return found
}

function skipSpace(cursor: Cursor): void {
  for (let code = next(cursor); code === SPACE || code === TAB; code = next(cursor)) cursor.at++
}

/** All characters from here on that are such. */
function takeWhile(cursor: Cursor, isPart: (code: number) => boolean): string {
  const from = cursor.at
  while (isPart(next(cursor))) cursor.at++
  return cursor.text.slice(from, cursor.at)
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 0x39
}

function isLower(code: number): boolean {
  return code >= 0x61 && code <= 0x7a
}

function isLetter(code: number): boolean {
  return isLower(code) || (code >= 0x41 && code <= 0x5a)
}

function isKeyPart(code: number): boolean {
  return (
    isLower(code) || isDigit(code) || code === UNDERSCORE || code === DOT || code === STAR || code === MINUS
  )
}

function isTokenPart(code: number): boolean {
  return isLetter(code) || isDigit(code) || (code > SPACE && TOKEN_SIGNS.includes(String.fromCharCode(code)))
}
