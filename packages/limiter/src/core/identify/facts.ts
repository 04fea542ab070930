import { checkCall } from '../options.ts'
import { REQUEST, type Request } from '../request.ts'
import { hostName, ownText } from './header.ts'
import { type Address, parseAddress } from './ip.ts'
import { normalPath } from './path.ts'

const HOST = /^(?:[\w.~%!$&'()*+;=\u0080-\uffff-]+|\[[\da-f:.%\w]+\]|[\da-f:.]+)$/
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
const PLACE = ['request']

/** A request as rules look at it: each fact is worked out when first asked for, and once. */
export class Facts {
  readonly request: Request
  readonly #foldPaths: boolean
  #path: string | undefined
  #segments: readonly string[] | undefined
  #address: Address | null | undefined

  /**
   * What was asked for so far and cannot be read, and why: that is a mistake, not a fact that the request lacks, or else
   * a limit would not apply.
   */
  problem: string | undefined

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
    if (this.#address === undefined) {
      const { ip = '' } = this.request
      this.#address = parseAddress(ip) ?? null
      if (this.#address === null && ip !== '') this.#refuse('ip', ip, 'one address')
    }
    return this.#address ?? undefined
  }

  get host(): string | undefined {
    const { host } = this.request
    if (host === undefined) return undefined
    const name = hostName(host)
    if (name !== '' && !HOST.test(name)) this.#refuse('host', host, 'one name or address')
    return name
  }

  get method(): string | undefined {
    const { method } = this.request
    if (method !== undefined && method !== '' && !TOKEN.test(method))
      this.#refuse('method', method, 'one method')
    return method?.toUpperCase()
  }

  #refuse(field: string, text: string, wanted: string): void {
    this.problem ??= `request.${field} must be ${wanted}, not ${JSON.stringify(text.slice(0, 80))}`
  }

  header(name: string): string | undefined {
    return ownText(this.request.headers, name)
  }

  query(name: string): string | undefined {
    return ownText(this.request.query, name)
  }

  attribute(name: string): string | undefined {
    const { attributes } = this.request
    const text = ownText(attributes, name)
    if (text === undefined || text === '') {
      const value: unknown =
        attributes !== undefined && Object.hasOwn(attributes, name) ? attributes[name] : ''
      if ((value ?? '') !== '') this.#refuse(`attributes.${name}`, String(value), 'text or a number')
    }
    return text
  }
}
