import {
  type LiveHistory,
  type LiveSecond,
  LiveWindow,
  msText,
  perSecondText,
  policyId,
  policyWords,
  shareText,
  summaryOf,
  verdictOf,
  wholeText,
} from '@sluice/observe/live'
import { AdminApi, RefusedCall } from './admin-api.ts'
import { buttonChoice, byId, element, setText } from './element.ts'
import { KeyPanel } from './key-panel.ts'
import { OffenderTables } from './offender-tables.ts'
import { PolicyTable } from './policy-table.ts'
import { PolicyTraffic } from './policy-traffic.ts'
import { type LimitFacts, limitsOf } from './rulebook-facts.ts'
import { TimeCharts } from './time-charts.ts'

/** Seconds between two looks at who is refused. */
const OFFENDERS_EVERY = 5
const RETRY_MS = 2_000

const api = new AdminApi()
const recent = new LiveWindow()
const charts = new TimeCharts()
const policies = new PolicyTable()
const keys = new KeyPanel(api)
const traffic = new PolicyTraffic(api, () => show())
const offenders = new OffenderTables(api, (row) => void keys.ask(row))
let version: string | undefined
let connected = false
let sinceOffenders = 0

buttonChoice(
  byId('ranges'),
  [
    ['60', '1 min'],
    ['300', '5 min'],
    ['900', '15 min'],
  ],
  '300',
  (seconds) => {
    charts.seconds = Number(seconds)
  },
)
byId<HTMLFormElement>('token').addEventListener('submit', (event) => {
  event.preventDefault()
  const input = byId('token').querySelector('input')!
  api.useToken(input.value)
  input.value = ''
  void run()
})
void run()

/** Follows the stream, and begins again when it ends; without the token, once there is one. */
async function run(): Promise<void> {
  for (;;) {
    try {
      await api.stream('v1/live', (event, data) => void seen(event, data))
    } catch (error) {
      const asks = error instanceof RefusedCall && error.status === 401
      byId('token').hidden = !asks
      if (asks) return
    }
    connected = false
    showHealth()
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

async function seen(event: string, data: unknown): Promise<void> {
  connected = true
  byId('token').hidden = true
  if (event === 'history') recent.begin(data as LiveHistory)
  if (event === 'history') void traffic.refresh().catch(() => undefined)
  if (event === 'second') {
    recent.add(data as LiveSecond)
    traffic.add(data as LiveSecond)
  }
  show()
  if (event === 'history' || ++sinceOffenders >= OFFENDERS_EVERY) {
    sinceOffenders = 0
    await refreshLists().catch(() => undefined) // the stream says whether the service answers
  }
  if (recent.last !== undefined && recent.last.rules.version !== version) {
    version = recent.last.rules.version
    await readRules().catch(() => {
      version = undefined
    })
  }
}

/** What the stream does not have. */
async function refreshLists(): Promise<void> {
  await offenders.refresh()
  policies.spikes = (await api.get('v1/spikes')).spikes
}

async function readRules(): Promise<void> {
  const facts = limitsOf(await api.get('v1/rules'))
  policies.facts = facts
  keys.facts = facts
  listLimits('offender-policy', facts)
  listLimits('traffic-policy', facts)
  await traffic.refresh()
}

/** Puts the limits behind the first option, which stands for all. */
function listLimits(id: string, facts: readonly LimitFacts[]): void {
  const select = byId<HTMLSelectElement>(id)
  const { value } = select
  const options = facts.map((each) => element('option', { value: policyId(each) }, policyWords(each)))
  select.replaceChildren(select.options[0]!, ...options)
  select.value = facts.some((each) => policyId(each) === value) ? value : ''
}

function show(): void {
  charts.show(recent.rows, traffic.rows)
  policies.show(summaryOf([recent]).policies)
  showHealth()
  showTiles()
  const parts = verdictOf(summaryOf([recent]), offenders.recent)
  const words = parts.map((part) => (typeof part === 'string' ? part : part.name)).join('')
  if (byId('verdict').textContent !== words) {
    byId('verdict').replaceChildren(
      ...parts.map((part) => (typeof part === 'string' ? part : element('code', {}, part.name))),
    )
  }
}

function showHealth(): void {
  const { last } = recent
  const items: [string, boolean][] = [[connected ? 'live' : 'not connected: trying again', connected]]
  if (last !== undefined) {
    const { store, rules } = last
    const fails = store.breaker !== null && store.breaker !== 'closed'
    items.push([
      fails ? 'store fails' : `store: ${store.kind === 'memory' ? 'memory, well' : 'well'}`,
      !fails,
    ])
    if (rules.origin !== 'app')
      items.push([
        rules.mistake === null ? 'rules in force as written' : 'rules: the files have a mistake',
        rules.mistake === null,
      ])
    const what =
      rules.origin === 'app' ? `Limits in use: ${rules.version}` : `Rulebook ${rules.version.slice(0, 12)}`
    setText(byId('rulebook'), `${what}, since ${new Date(rules.since).toLocaleString('en-GB')}`)
    byId('mistake').hidden = rules.mistake === null
    setText(
      byId('mistake'),
      rules.mistake === null
        ? ''
        : `The files cannot be used, and older rules are in force: ${rules.mistake}`,
    )
  }
  const list = byId('health')
  while (list.children.length < items.length) list.append(element('li'))
  items.forEach(([text, good], i) => {
    const item = list.children[i]!
    setText(item, text)
    item.className = good ? 'good' : 'bad'
  })
}

function showTiles(): void {
  const { seconds, all, denied, degraded, latency, store } = summaryOf([recent])
  const tiles: readonly (readonly [term: string, value: string, more: string])[] = [
    ['Requests, last minute', wholeText(all), `${perSecondText(all / Math.max(1, seconds))} per second`],
    ['Refused', wholeText(denied), shareText(denied, all)],
    [
      'Time that Sluice takes, 99 %',
      msText(latency?.p99 ?? null),
      `median ${msText(latency?.p50 ?? null)}; the aim is under 1 ms`,
    ],
    [
      'Decided without the store',
      wholeText(degraded),
      store === undefined
        ? ''
        : store.kind === 'memory'
          ? `${wholeText(store.keys ?? 0)} keys in memory`
          : `store takes ${msText(store.latency?.p99 ?? null)}`,
    ],
  ]
  const list = byId('tiles')
  while (list.children.length < tiles.length)
    list.append(element('div', {}, element('dt'), element('dd', {}, element('span'), element('small'))))
  tiles.forEach(([term, value, more], i) => {
    const tile = list.children[i]!
    setText(tile.querySelector('dt')!, term)
    setText(tile.querySelector('span')!, value)
    setText(tile.querySelector('small')!, more)
  })
}
