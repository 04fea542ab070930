/** There already, or promised: most requests need not wait for anything, and then nothing here makes them. */
export type Soon<T> = T | Promise<T>

/** Whether an object is only promised: asked by its `then`, at a quarter of the code of `instanceof`. */
export function isPromised<T extends object>(value: Soon<T>): value is Promise<T> {
  return typeof (value as { then?: unknown }).then === 'function'
}

/** Goes on with a value, at once where it is there. */
export function soon<T, U>(value: Soon<T>, go: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(go) : go(value)
}

/**
 * Goes on with a promised value. What else `go` needs comes as arguments: a function that holds closures makes a
 * context for them each time it runs, promise or not.
 */
export async function later<T, A extends readonly unknown[], U>(
  promised: Promise<T>,
  go: (value: T, ...args: A) => Soon<U>,
  ...args: A
): Promise<U> {
  return go(await promised, ...args)
}

/** What a user's function gave, which may only behave like a promise: a query that runs when it is awaited. */
export function given<T>(value: T | PromiseLike<T>): Soon<T> {
  return isPromise(value) ? Promise.resolve(value) : value
}

function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && isPromised(value)
}
