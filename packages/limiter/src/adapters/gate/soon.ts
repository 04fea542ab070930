/** There already, or promised: most requests need not wait for anything, and then nothing here makes them. */
export type Soon<T> = T | Promise<T>

/** Goes on with a value, at once where it is there. */
export function soon<T, U>(value: Soon<T>, go: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(go) : go(value)
}

/** What a user's function gave, which may only behave like a promise: a query that runs when it is awaited. */
export function given<T>(value: T | PromiseLike<T>): Soon<T> {
  return isPromise(value) ? Promise.resolve(value) : value
}

function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}
