// Beside `dist`, so that the way there is the same from here and from the file that the build puts this into.

/** The page that the build makes of packages/dashboard. */
export const REPORT_PAGE: URL = new URL('../dist/page/', import.meta.url)

/** The program of a thread that does a part of a job, as it was built. */
export const JOB_THREAD: URL = new URL('../dist/jobs/job-thread.js', import.meta.url)
