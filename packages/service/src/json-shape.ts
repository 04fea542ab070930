import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfText,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from './json-text.ts'
import { HttpError } from './problem.ts'

/** Names and values of one request: one with 128 descriptors of 10 entries has 6,800. */
export const MOST_VALUES = 10_000
/** Levels of lists and objects in a body: a batch of descriptors has six. */
export const MOST_LEVELS = 16

/** Where the items of a list are in its text: each begins at `starts[i]` and ends before `ends[i]`. */
export interface ItemPlaces {
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/**
 * Looks at a JSON text before it is parsed, since to parse some texts takes seconds: bounds its levels, and the names
 * and values of each item of a list, or of all where it is no list. Takes time in proportion to the text, and stops at a
 * bound. What is no JSON may pass.
 * @param mostItems where a list has more, those that follow the next are left out
 * @returns where the items are; undefined where the text is no list
 * @throws HttpError 413 for too many values, 400 for too many levels and for a list that does not end as one
 * @example
 * itemPlaces('[1, [2]]', 1_000) // { starts: [1, 3], ends: [2, 7] }
 */
export function itemPlaces(text: string, mostItems: number): ItemPlaces | undefined {
  const first = afterBlanks(text, 0)
  const isList = text.charCodeAt(first) === OPEN_LIST
  const starts = [first + 1]
  const ends: number[] = []
  let depth = 0
  let values = 0
  for (let i = first; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfText(text, i)
        break
      case OPEN_OBJECT:
      case OPEN_LIST:
        if (++depth > MOST_LEVELS)
          throw new HttpError(400, `the body has more than ${MOST_LEVELS} levels of lists and objects`)
        if (i > first) values++
        break
      case COMMA:
        if (isList && depth === 1) {
          ends.push(i)
          if (ends.length > mostItems) return { starts, ends }
          starts.push(i + 1)
          values = 0
          break
        }
        values++
        break
      case COLON:
        values++
        break
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        if (--depth === 0 && isList) {
          ends.push(i)
          if (text.charCodeAt(i) !== CLOSE_LIST || afterBlanks(text, i + 1) < text.length) throw noJson()
          const isEmpty = ends.length === 1 && afterBlanks(text, first + 1) === i
          return isEmpty ? { starts: [], ends: [] } : { starts, ends }
        }
    }
    if (values > MOST_VALUES)
      throw new HttpError(413, `one request has more than ${MOST_VALUES} names and values`)
  }
  if (isList) throw noJson()
  return undefined
}

/** What a body is that cannot be parsed. */
export function noJson(): HttpError {
  return new HttpError(400, 'the body is not JSON, or has a field named __proto__')
}

function afterBlanks(text: string, start: number): number {
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code !== SPACE && code !== NEW_LINE && code !== RETURN && code !== TAB) return i
  }
  return Math.max(start, text.length)
}

const SPACE = 0x20
const TAB = 0x09
const NEW_LINE = 0x0a
const RETURN = 0x0d
