/**
 * Where a page of the documentation can be opened: the package does not hold it.
 * @param path from docs/, with its `#…`
 */
export function pageUrl(path: string): string {
  return `https://github.com/sluice-limiter/sluice/blob/main/docs/${path}`
}
