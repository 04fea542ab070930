import {
  type AlgorithmName,
  type AlgorithmSettings,
  algorithms,
  type Option,
} from '@sluice/limiter/algorithms'

/** An algorithm with some of its options. */
export interface Variant {
  /** `token-bucket, refill interval`. */
  readonly name: string
  readonly policy: { readonly algorithm: AlgorithmName } & AlgorithmSettings
}

/**
 * Every algorithm with each combination of the words that its options may have; defaults are left out.
 * @example
 * variantsOf((name) => name === 'token-bucket').map(({ name }) => name)
 * // ['token-bucket', 'token-bucket, refill interval']
 */
export function variantsOf(wanted: (name: AlgorithmName) => boolean = () => true): readonly Variant[] {
  return (Object.keys(algorithms) as AlgorithmName[]).filter(wanted).flatMap((algorithm) => {
    const options = Object.entries<Option>(algorithms[algorithm].options)
    const choices = options.reduce<Record<string, string>[]>(
      (variants, [option, { type, ...rest }]) => {
        if (type !== 'choice') return variants
        const [, ...words] = (rest as { words: readonly string[] }).words
        return variants.flatMap((variant) => [
          variant,
          ...words.map((word) => ({ ...variant, [option]: word })),
        ])
      },
      [{}],
    )
    return choices.map((settings) => ({
      name: [algorithm, ...Object.entries(settings).map((pair) => pair.join(' '))].join(', '),
      policy: { algorithm, ...settings },
    }))
  })
}
