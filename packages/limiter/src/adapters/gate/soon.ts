/** There already, or promised. */
export type Soon<T> = T | Promise<T>

/** Goes on with a value: at once where it is there, since most requests need not wait for anything. */
export function soon<T, U>(value: T | PromiseLike<T>, go: (value: T) => Soon<U>): Soon<U> {
  return isPromise(value) ? Promise.resolve(value).then(go) : go(value)
}

/** Also what only behaves like one, such as a query that runs when it is awaited. */
function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}
