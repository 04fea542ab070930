/** Messages of Envoy's external authorization API, as `proto/` names their fields. Fields that are not there are not set. */
export interface CheckRequest {
  readonly attributes?: {
    readonly source?: { readonly address?: { readonly socket_address?: { readonly address?: string } } }
    readonly request?: { readonly http?: HttpRequest }
    readonly context_extensions?: MapEntries
  }
}

/** A map, as protocol buffers send it. */
export type MapEntries = readonly { readonly key?: string; readonly value?: string }[]

interface HttpRequest {
  readonly method?: string
  readonly headers?: MapEntries
  /** With the query. */
  readonly path?: string
  readonly host?: string
  /** In place of `headers`, where Envoy is asked for bytes. */
  readonly header_map?: {
    readonly headers?: readonly { readonly key?: string; readonly raw_value?: Uint8Array }[]
  }
}

export interface HeaderValueOption {
  readonly header: { readonly key: string; readonly value: string }
  /** `HeaderValueOption.HeaderAppendAction`. */
  readonly append_action: number
}

export interface CheckResponse {
  /** A code of gRPC: 0 admits. */
  readonly status: { readonly code: number }
  readonly denied_response?: {
    readonly status: { readonly code: number }
    readonly headers: readonly HeaderValueOption[]
    readonly body: string
  }
  readonly ok_response?: {
    /** Of the request, where it is passed on. */
    readonly headers: readonly HeaderValueOption[]
    readonly headers_to_remove: readonly string[]
    /** Of the answer to the client. */
    readonly response_headers_to_add: readonly HeaderValueOption[]
  }
}
