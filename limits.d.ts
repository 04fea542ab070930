// Written by `sluice types`. Do not edit.

/** The limits of each domain with the parts of their keys, and the names that its rules read. */
export type Limits = {
  auth: {
    limits: {
      auth_type_login: 'auth_type'
    }
    headers: never
    query: never
    attributes: never
    entries: 'auth_type'
  }
  messaging: {
    limits: {
      message_type_marketing: 'message_type'
      to_number: 'to_number'
    }
    headers: never
    query: never
    attributes: never
    entries: 'message_type' | 'to_number'
  }
  shop: {
    limits: {
      everyone: never
      login: 'ip'
      plan: 'tenant'
      search: 'user'
      tokens: 'header:x-model' | 'tenant'
    }
    headers: 'x-estimated-tokens' | 'x-model'
    query: never
    attributes: 'plan' | 'tenant' | 'user'
    entries: never
  }
}
