import type { OffenderList } from '@sluice/limiter/offenders'
import { type LiveHistory, type LiveSecond, LiveWindow } from '@sluice/observe/live'
import { askNode } from './admin-address.ts'

/** Keys that are asked for, so that lists of several nodes can be merged. */
const TOP = 100

/** One service, followed by its admin address. */
export interface FollowedNode {
  readonly address: string
  readonly window: LiveWindow
  /** Who is refused, of the last five minutes. */
  offenders(): Promise<readonly OffenderList[]>
}

/**
 * Follows `/v1/live` of one address until it ends.
 * @param token of the admin address, where it asks for one
 * @param changed is called with every event
 * @throws UsageError for an address that does not answer, or refuses
 */
export async function followNode(
  address: string,
  token: string | undefined,
  signal: AbortSignal,
  changed: (node: FollowedNode) => void,
): Promise<void> {
  const window = new LiveWindow()
  const ask = (path: string, accept: string): Promise<Response> =>
    askNode(address, path, accept, token, signal)
  const node: FollowedNode = {
    address,
    window,
    async offenders() {
      const body = await (await ask(`/v1/offenders?top=${TOP}`, 'application/json')).json()
      return (body as { readonly lists: readonly OffenderList[] }).lists
    },
  }
  const { body } = await ask('/v1/live', 'text/event-stream')
  let text = ''
  for await (const part of body!.pipeThrough(new TextDecoderStream())) {
    const events = (text + part).split('\n\n')
    text = events.pop()!
    for (const each of events) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(each) ?? []
      if (event === 'history') window.begin(JSON.parse(data!) as LiveHistory)
      else if (event === 'second') window.add(JSON.parse(data!) as LiveSecond)
      else continue
      changed(node)
    }
  }
}
