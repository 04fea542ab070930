// Beside `dist`, so that the way there is the same from here and from the file that the build puts this into.

/** The page that the build makes of packages/dashboard. */
export const DASHBOARD_PAGE: URL = new URL('../dist/page/', import.meta.url)
