import type { CountedKey, KeyCounts, OffenderList } from '@sluice/limiter/offenders'
import { keyWords, policyId, policyWords, wholeText } from '@sluice/observe/live'
import type { AdminApi } from './admin-api.ts'
import { buttonChoice, byId, element, KeyedRows, setText } from './element.ts'

const MOST_ROWS = 8
/** Of a key that is refused. */
const MOST_ROUTES = 2

interface KeyRow extends CountedKey {
  readonly domain: string
  readonly policy: string
}

type ListKind = 'denied' | 'busiest' | 'routes'

const NAMES: Readonly<Record<ListKind, string>> = {
  denied: 'Most over the limit',
  busiest: 'Busiest keys',
  routes: 'Busiest routes',
}

/** Who is refused most often, who comes most often, and by which routes. */
export class OffenderTables {
  readonly #api: AdminApi
  readonly #denied: KeyedRows<KeyRow, HTMLTableRowElement>
  readonly #busiest: KeyedRows<KeyRow, HTMLTableRowElement>
  readonly #routes: KeyedRows<KeyRow, HTMLTableRowElement>
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
    this.#routes = new KeyedRows(byId('routes').querySelector('tbody')!, (row) => makeRow(row), updateRow)
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
    const rowsOf = (kind: ListKind): [string, KeyRow][] =>
      chosen
        .flatMap((list) =>
          list[kind].keys.map((each) => ({ ...each, domain: list.domain, policy: list.policy })),
        )
        .sort((a, b) => b.atMost - a.atMost)
        .slice(0, MOST_ROWS)
        .map((row) => [JSON.stringify([row.domain, row.policy, row.key]), row])
    this.#denied.show(rowsOf('denied'))
    this.#busiest.show(rowsOf('busiest'))
    this.#routes.show(rowsOf('routes'))
    for (const [kind, name] of Object.entries(NAMES) as [ListKind, string][]) {
      const caption = byId<HTMLTableElement>(kind).caption!
      const total = chosen.reduce((sum, list) => sum + list[kind].total, 0)
      setText(caption, total === 0 ? `${name}: none` : `${name}, of ${wholeText(total)} in all`)
    }
    setText(byId('bound'), boundText(chosen))
  }
}

/** @param chosen is called when the row's key is chosen; a route is not a key */
function makeRow(row: KeyRow, chosen?: (row: KeyRow) => void): HTMLTableRowElement {
  const name = element('code', {}, keyWords(row.key))
  const button = chosen && element('button', { type: 'button', class: 'link' }, name)
  button?.addEventListener('click', () => chosen?.(row))
  return element(
    'tr',
    {},
    element(
      'td',
      {},
      button ?? name,
      ' ',
      element('small', {}, policyWords(row)),
      element('small', { class: 'routes' }),
    ),
    element('td', { class: 'number' }),
  )
}

function updateRow(row: HTMLTableRowElement, { atLeast, atMost, routes = [] }: KeyRow): void {
  setText(
    row.querySelector('.routes')!,
    routes
      .slice(0, MOST_ROUTES)
      .map(({ route }) => route)
      .join(', '),
  )
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
