import { UsageError } from '../usage-error.ts'

/** Where a service has its admin address, if nobody says otherwise. */
export const DEFAULT_ADDRESS = '127.0.0.1:6070'

/** `HOST:PORT` or a URL, as a URL. @throws UsageError for what is no address */
export function adminUrl(address: string): string {
  const text = /^https?:\/\//.test(address) ? address : `http://${address}`
  if (!URL.canParse(text))
    throw new UsageError(`${JSON.stringify(address)} is no address, such as ${DEFAULT_ADDRESS}`)
  return text
}

/**
 * Asks an admin address.
 * @param token of the admin address, where it asks for one
 * @throws UsageError for an address that does not answer, or refuses
 */
export async function askNode(
  address: string,
  path: string,
  accept: string,
  token: string | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const headers = { accept, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  let response: Response
  try {
    response = await fetch(new URL(path, address), { headers, signal })
  } catch (error) {
    if (signal.aborted) throw error
    throw new UsageError(`${address} does not answer: is it the admin address of a service?`, {
      cause: error,
    })
  }
  if (response.ok) return response
  if (response.status === 401)
    throw new UsageError(`${address} asks for its token: set SLUICE_ADMIN_TOKEN or SLUICE_ADMIN_TOKEN_FILE`)
  throw new UsageError(`${address} answers ${response.status}: is it the admin address of a service?`)
}
