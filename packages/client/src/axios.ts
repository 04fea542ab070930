import { checkOptions, func } from '@sluice/limiter/options'
import type { HeaderSource } from './answers/header-source.ts'
import { type Outbound, outboundOf } from './outbound/outbound.ts'
import type { CallOptions, OutboundOptions } from './outbound/outbound-options.ts'

/** What axios gives an adapter, as far as it matters here. */
interface RequestConfig {
  readonly baseURL?: string | undefined
  readonly url?: string | undefined
  readonly method?: string | undefined
  readonly headers?: unknown
  readonly data?: unknown
  readonly signal?: unknown
  readonly limits?: CallOptions
}

interface AdapterAnswer {
  readonly status: number
  readonly headers: unknown
  readonly data: unknown
}

/**
 * An adapter for axios: its calls keep to the limits of those they go to.
 * @param adapter sends the calls, such as `axios.getAdapter('http')`
 * @throws ConfigError for options that are wrong
 * @example
 * const client = axios.create({ adapter: outboundAdapter(axios.getAdapter('http'), { destinations }) })
 */
export function outboundAdapter<Config extends RequestConfig, A extends AdapterAnswer>(
  adapter: (config: Config) => Promise<A>,
  options: OutboundOptions | Outbound = {},
): (config: Config) => Promise<A> {
  checkOptions(adapter, func, 'adapter')
  const outbound = outboundOf(options)
  return (config) =>
    outbound.run(
      async ({ answered, used }) => {
        const hear = ({ status, headers }: AdapterAnswer): void =>
          answered({ status, headers: headers as HeaderSource })
        try {
          const answer = await adapter(config)
          hear(answer)
          used(answer.data)
          return answer
        } catch (error) {
          const { response } = error as { readonly response?: AdapterAnswer }
          if (response !== undefined) hear(response)
          throw error
        }
      },
      {
        ...config.limits,
        url: new URL(config.url ?? '', config.baseURL),
        method: config.method ?? 'GET',
        headers: Object.entries(config.headers ?? {}).map(([name, value]) => [name, String(value)]),
        body: config.data,
        ...(config.signal instanceof AbortSignal && { signal: config.signal }),
      },
    )
}
