import { chromium } from 'playwright-core'

/** Debian's Chromium, or the one that CHROMIUM names. As root it runs only without its sandbox. */
export function launchChromium() {
  const root = process.getuid?.() === 0
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    timeout: 100_000, // a busy machine starts it slowly
    args: ['--disable-dev-shm-usage', ...(root ? ['--no-sandbox'] : [])],
  })
}
