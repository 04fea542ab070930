import { type OptionCheck, oneOf, wholeFrom } from '../options.ts'

/** A whole number from `least` to 2^53−1. */
export interface WholeOption {
  readonly type: 'whole'
  readonly least: number
  /** What it does, and its default, for schemas and pages. */
  readonly about: string
}

/** One of these words; the first is the default. */
export interface ChoiceOption<Word extends string = string> {
  readonly type: 'choice'
  readonly words: readonly [Word, ...Word[]]
  readonly about: string
}

export type Option = WholeOption | ChoiceOption
/** The options of an algorithm by their names in a policy. */
export type Options = Readonly<Record<string, Option>>

/** Where an algorithm has none. */
export type NoOptions = Record<never, Option>

/** The values that a policy may give to such options. */
export type OptionValues<O extends Options> = {
  readonly [Name in keyof O]?: O[Name] extends ChoiceOption<infer Word> ? Word : number
}

export function whole(least: number, about: string): WholeOption {
  return { type: 'whole', least, about }
}

export function choice<Word extends string>(
  words: readonly [Word, ...Word[]],
  about: string,
): ChoiceOption<Word> {
  return { type: 'choice', words, about }
}

/** What the option takes. */
export function optionCheck(option: Option): OptionCheck {
  return option.type === 'whole' ? wholeFrom(option.least) : oneOf(...option.words)
}
