import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import type { Bounds } from './bounds.ts'
import { repeatedName } from './json.ts'
import { type ItemPlaces, itemPlaces, noJson } from './json-shape.ts'
import { HttpError } from './problem.ts'
import { Turns } from './turns.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Takes a request that says it sends JSON, and sends nothing. */
    readonly emptyBody?: true
  }
}

/** Characters of a list that is parsed at once. */
const SHORT = 65_536

/**
 * Takes JSON alone. Bytes that are no UTF-8 would all become U+FFFD, and so two identities one. The items of a long list
 * are parsed in turns of the event loop, so that others are answered in between.
 */
export function takeJsonAlone(app: FastifyInstance, { maxBatch }: Pick<Bounds, 'maxBatch'>): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    /** @throws HttpError, or what Fastify's parser says */
    const readItem = (text: string): unknown => {
      let value: unknown
      parse(request, text, (error, parsed) => {
        if (error) throw error
        value = parsed
      })
      const twice = repeatedName(text, value)
      if (twice === undefined) return value
      const name = JSON.stringify(twice.slice(0, 100))
      throw new HttpError(400, `the body has the name ${name} twice in one object`)
    }
    try {
      if (!isUtf8(body)) throw new HttpError(400, 'the body is not UTF-8')
      if (body.length === 0 && request.routeOptions.config.emptyBody) return done(null, undefined)
      const text = body.toString()
      const places = itemPlaces(text, maxBatch)
      if (places === undefined || text.length <= SHORT) return done(null, readItem(text))
      itemsOf(text, places, readItem).then((items) => done(null, items), done)
    } catch (error) {
      done(error as Error)
    }
  })
}

async function itemsOf(
  text: string,
  { starts, ends }: ItemPlaces,
  readItem: (text: string) => unknown,
): Promise<unknown[]> {
  const turns = new Turns()
  const items: unknown[] = []
  for (let i = 0; i < ends.length; i++) {
    const item = text.slice(starts[i], ends[i])
    if (item.trim() === '') throw noJson()
    items.push(readItem(item))
    await turns.pause()
  }
  return items
}
