// Makes the README's picture of the dashboard: starts the service with the rules of examples/, sends it traffic for a
// minute and a half, and opens the page in Chromium. After a build.
//   node scripts/screenshot.mjs [--seconds 90] [--out docs/dashboard.png]
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { createService } from '@sluice/service'
import { launchChromium } from './screenshot/chromium.mjs'
import { sendTraffic } from './screenshot/traffic.mjs'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '90' },
    out: { type: 'string', default: 'docs/dashboard.png' },
    width: { type: 'string', default: '1180' },
    height: { type: 'string', default: '1330' },
    dark: { type: 'boolean', default: false },
  },
})

const service = createService({
  rules: ['examples/rulebook'],
  http: '127.0.0.1:0',
  admin: '127.0.0.1:0',
  watch: false,
  log: { level: 'warn' },
})
const { http, admin } = await service.start()
const browser = await launchChromium()
try {
  const seconds = Number(values.seconds)
  const sent = sendTraffic(http, seconds + 10)
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  const page = await browser.newPage({
    viewport: { width: Number(values.width), height: Number(values.height) },
    colorScheme: values.dark ? 'dark' : 'light',
  })
  await page.goto(admin)
  await page.locator('#denied tbody tr').first().waitFor()
  await page.waitForTimeout(2_500)
  await page.screenshot({ path: values.out })
  await sent
} finally {
  await browser.close()
  await service.stop()
}
// Smaller by two thirds, where the program is there; the picture is the same to the eye.
spawnSync('pngquant', ['--force', '--output', values.out, '--quality', '70-95', values.out])
