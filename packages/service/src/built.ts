// Beside `dist`, so that the way there is the same from here and from the file that the build puts this into.

/** The program of a thread that loads rules, as it was built. */
export const LOAD_THREAD: URL = new URL('../dist/rules/load-thread.js', import.meta.url)
