import type { CountedKey, KeyCounts, OffenderList } from '@sluice/limiter/offenders'
import { keyWords, policyId, policyWords, wholeText } from '@sluice/observe/live'
import type { AdminApi } from './admin-api.ts'
import { buttonChoice, byId, element, KeyedRows, setText } from './element.ts'

const MOST_ROWS = 8

interface KeyRow extends CountedKey {
  readonly domain: string
  readonly policy: string
}

/** Who is refused most often, and who comes most often. */
export class OffenderTables {
  readonly #api: AdminApi
  readonly #denied: KeyedRows<KeyRow, HTMLTableRowElement>
  readonly #busiest: KeyedRows<KeyRow, HTMLTableRowElement>
  readonly #select = byId<HTMLSelectElement>('offender-policy')
  #window: '5m' | '1d' = '5m'
  /** Of the last five minutes, of every policy. */
  recent: readonly OffenderList[] = []

  /** @param chosen is called with the key whose figures are asked for */
  constructor(api: AdminApi, chosen: (row: Pick<KeyRow, 'domain' | 'policy' | 'key'>) => void) {
    this.#api = api
    const rows = (id: string): KeyedRows<KeyRow, HTMLTableRowElement> =>
      new KeyedRows(byId(id).querySelector('tbody')!, (row) => makeRow(row, chosen), updateRow)
    this.#denied = rows('denied')
    this.#busiest = rows('busiest')
    this.#select.addEventListener('change', () => void this.refresh())
    buttonChoice(
      byId('windows'),
      [
        ['5m', '5 minutes'],
        ['1d', '1 day'],
      ],
      '5m',
      (window) => {
        this.#window = window
        void this.refresh()
      },
    )
  }

  async refresh(): Promise<void> {
    this.recent = (await this.#api.get('v1/offenders')).lists
    const { lists } =
      this.#window === '5m' ? { lists: this.recent } : await this.#api.get('v1/offenders?window=1d')
    this.#show(lists)
  }

  #show(lists: readonly OffenderList[]): void {
    const chosen = lists.filter((list) => this.#select.value === '' || policyId(list) === this.#select.value)
    const rowsOf = (kind: 'denied' | 'busiest'): [string, KeyRow][] =>
      chosen
        .flatMap((list) =>
          list[kind].keys.map((each) => ({ ...each, domain: list.domain, policy: list.policy })),
        )
        .sort((a, b) => b.atMost - a.atMost)
        .slice(0, MOST_ROWS)
        .map((row) => [JSON.stringify([row.domain, row.policy, row.key]), row])
    this.#denied.show(rowsOf('denied'))
    this.#busiest.show(rowsOf('busiest'))
    for (const kind of ['denied', 'busiest'] as const) {
      const caption = byId<HTMLTableElement>(kind).caption!
      const total = chosen.reduce((sum, list) => sum + list[kind].total, 0)
      const name = kind === 'denied' ? 'Most over the limit' : 'Busiest'
      setText(caption, total === 0 ? `${name}: none` : `${name}, of ${wholeText(total)} in all`)
    }
    setText(byId('bound'), boundText(chosen))
  }
}

function makeRow(row: KeyRow, chosen: (row: KeyRow) => void): HTMLTableRowElement {
  const button = element('button', { type: 'button', class: 'link' }, element('code', {}, keyWords(row.key)))
  button.addEventListener('click', () => chosen(row))
  return element(
    'tr',
    {},
    element('td', {}, button, ' ', element('small', {}, policyWords(row))),
    element('td', { class: 'number' }),
  )
}

function updateRow(row: HTMLTableRowElement, { atLeast, atMost }: KeyRow): void {
  const exact = atLeast === atMost
  setText(row.lastElementChild!, exact ? wholeText(atMost) : `${wholeText(atLeast)}–${wholeText(atMost)}`)
}

/** What the counts may leave out. */
function boundText(lists: readonly OffenderList[]): string {
  const most = (of: (list: OffenderList) => KeyCounts): number =>
    Math.max(0, ...lists.map((list) => of(list).unlisted))
  const [denied, busiest] = [most((list) => list.denied), most((list) => list.busiest)]
  const parts = [
    denied > 0 ? `was over the limit at most ${wholeText(denied)} times` : '',
    busiest > 0 ? `came at most ${wholeText(busiest)} times` : '',
  ].filter((part) => part !== '')
  if (parts.length === 0) return ''
  return `Counted in fixed memory: a key that is not in a list ${parts.join(', and ')}.`
}
