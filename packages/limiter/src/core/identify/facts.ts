import { checkCall } from '../options.ts'
import { REQUEST, type Request } from '../request.ts'
import { hostName, ownText } from './header.ts'
import { type Address, parseAddress } from './ip.ts'
import { normalPath } from './path.ts'

const PLACE = ['request']

/** A request as rules look at it: each fact is worked out when first asked for, and once. */
export class Facts {
  readonly request: Request
  readonly #foldPaths: boolean
  #path: string | undefined
  #segments: readonly string[] | undefined
  #address: Address | null | undefined

  /** @throws TypeError for what is misspelt in a request, and so would meet no rule */
  constructor(request: Request, foldPaths: boolean) {
    checkCall(request, REQUEST, PLACE)
    this.request = request
    this.#foldPaths = foldPaths
  }

  get path(): string {
    this.#path ??= normalPath(this.request.path ?? '/', this.#foldPaths)
    return this.#path
  }

  get segments(): readonly string[] {
    this.#segments ??= this.path === '/' ? [] : this.path.slice(1).split('/')
    return this.#segments
  }

  get address(): Address | undefined {
    if (this.#address === undefined) this.#address = parseAddress(this.request.ip ?? '') ?? null
    return this.#address ?? undefined
  }

  get host(): string | undefined {
    return this.request.host === undefined ? undefined : hostName(this.request.host)
  }

  get method(): string | undefined {
    return this.request.method?.toUpperCase()
  }

  header(name: string): string | undefined {
    return ownText(this.request.headers, name)
  }

  query(name: string): string | undefined {
    return ownText(this.request.query, name)
  }

  attribute(name: string): string | undefined {
    return ownText(this.request.attributes, name)
  }
}
