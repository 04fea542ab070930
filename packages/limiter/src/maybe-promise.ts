/**
 * There already, or promised. With `Async` it is known which: a store in process answers at once, a shared one by
 * promise, and what is built on them does likewise.
 */
export type MaybePromise<T, Async extends boolean = boolean> = Async extends true ? Promise<T> : T

/** Whether an object is only promised: asked by its `then`, at a quarter of the code of `instanceof`. */
export function isPromise<T extends object>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown }).then === 'function'
}

/** Goes on with a value: at once where it is there. (Never name an export `then`: importers would call it.) */
export function andThen<T, U, Async extends boolean = boolean>(
  value: MaybePromise<T, Async>,
  go: (value: T) => U | Promise<U>,
): MaybePromise<U, Async> {
  return (value instanceof Promise ? value.then(go) : go(value as T)) as MaybePromise<U, Async>
}

/**
 * Goes on with a promised value. What else `go` needs comes as arguments: a function that holds closures makes a
 * context for them each time it runs, promise or not.
 */
export async function andThenWith<T, A extends readonly unknown[], U>(
  promised: Promise<T>,
  go: (value: T, ...args: A) => MaybePromise<U>,
  ...args: A
): Promise<U> {
  return go(await promised, ...args)
}

/** What a user's function returned, which may only behave like a promise: a query that runs when it is awaited. */
export function maybePromise<T>(value: T | PromiseLike<T>): MaybePromise<T> {
  return isThenable(value) ? Promise.resolve(value) : value
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && isPromise(value)
}
