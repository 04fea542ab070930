import { durationText, keyWords, policyId, wholeText } from '@sluice/observe/live'
import { type AdminApi, RefusedCall } from './admin-api.ts'
import { byId, element } from './element.ts'
import type { LimitFacts } from './rulebook-facts.ts'

interface AskedKey {
  readonly domain: string
  readonly policy: string
  readonly key: string
}

interface ShownFigures {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number | null
  readonly retryAfterMs: number | null
  readonly resetAfterMs: number | null
  readonly blocked?: true
  readonly degraded: boolean
  readonly blockable: boolean
}

/** The figures of one key now, and what an operator can do about it. */
export class KeyPanel {
  readonly #api: AdminApi
  readonly #form = byId<HTMLFormElement>('key')
  readonly #found = byId('found')

  constructor(api: AdminApi) {
    this.#api = api
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault()
      void this.#lookUp('')
    })
  }

  /** Limits to choose from. */
  set facts(facts: readonly LimitFacts[]) {
    const select = this.#select
    const { value } = select
    select.replaceChildren(
      ...facts.map((each) => element('option', { value: policyId(each) }, `${each.domain} · ${each.policy}`)),
    )
    if (facts.some((each) => policyId(each) === value)) select.value = value
  }

  async ask({ domain, policy, key }: AskedKey): Promise<void> {
    this.#select.value = policyId({ domain, policy })
    this.#input.value = key
    await this.#lookUp('')
    this.#form.scrollIntoView({ block: 'center' })
    this.#form.querySelector('button')!.focus({ preventScroll: true })
  }

  get #select(): HTMLSelectElement {
    return this.#form.querySelector('select')!
  }

  get #input(): HTMLInputElement {
    return this.#form.querySelector('input')!
  }

  get #asked(): AskedKey {
    const [domain, policy] = JSON.parse(this.#select.value) as [string, string]
    return { domain, policy, key: this.#input.value }
  }

  /** @param done what was done before, to be said above the figures */
  async #lookUp(done: string): Promise<void> {
    const asked = this.#asked
    try {
      const { figures } = await this.#api.get(`v1/key?${new URLSearchParams({ ...asked })}`)
      this.#show(asked, figures, done)
    } catch (error) {
      if (!(error instanceof RefusedCall)) throw error
      this.#found.replaceChildren(element('p', { class: 'bad' }, error.message))
    }
  }

  #show(asked: AskedKey, figures: readonly ShownFigures[], done: string): void {
    const blocked = figures.some((each) => each.blocked)
    const duration = element('input', { class: 'short', value: '10m', 'aria-label': 'Duration of the block' })
    const action = (label: string, path: string, more: () => object, enabled = true): HTMLButtonElement => {
      const button = element('button', { type: 'button', disabled: !enabled && '' }, label)
      button.addEventListener('click', () => void this.#act(label, path, { ...asked, ...more() }))
      return button
    }
    const blockable = figures.some((each) => each.blockable)
    const block = blockable
      ? [action('Block for', 'v1/block', () => ({ duration: duration.value })), duration]
      : [
          element(
            'span',
            { class: 'note' },
            'It cannot be blocked: the limit has neither block nor blockable: true.',
          ),
        ]
    this.#found.replaceChildren(
      element(
        'p',
        {},
        element('code', {}, keyWords(asked.key)),
        ` at ${asked.policy}`,
        done === '' ? '' : `: ${done}`,
      ),
      ...figures.map(figureList),
      element(
        'div',
        { class: 'actions' },
        action('Reset', 'v1/reset', () => ({})),
        ...(blocked ? [action('Unblock', 'v1/unblock', () => ({}))] : block),
      ),
    )
  }

  async #act(label: string, path: string, body: object): Promise<void> {
    try {
      await this.#api.post(path, body)
      await this.#lookUp(`${label.toLowerCase()} is done`)
    } catch (error) {
      if (!(error instanceof RefusedCall)) throw error
      this.#found.prepend(element('p', { class: 'bad' }, error.message))
    }
  }
}

function figureList({
  allowed,
  limit,
  remaining,
  retryAfterMs,
  resetAfterMs,
  blocked,
  degraded,
}: ShownFigures): Node {
  const state = blocked ? 'blocked' : allowed ? 'admits the next request' : 'refuses the next request'
  const rows: readonly (readonly [string, string])[] = [
    ['State', degraded ? `${state}, without the store` : state],
    ['Limit', wholeText(limit)],
    ['Left', remaining === null ? 'not known' : wholeText(remaining)],
    ['Admits again after', allowed ? '–' : durationText(retryAfterMs)],
    ['All is free after', resetAfterMs === null ? 'not known' : durationText(resetAfterMs)],
  ]
  return element(
    'dl',
    {},
    ...rows.map(([term, value]) => element('div', {}, element('dt', {}, term), element('dd', {}, value))),
  )
}
