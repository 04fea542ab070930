/**
 * The caller's mistake: HTTP 400.
 * @example
 * if (error instanceof BadQuestion) response.writeHead(400).end(error.message)
 */
export class BadQuestion extends TypeError {}

/**
 * No rules are loaded for that domain: HTTP 404.
 * @example
 * if (error instanceof UnknownDomain) response.writeHead(404).end(error.message)
 */
export class UnknownDomain extends TypeError {}
