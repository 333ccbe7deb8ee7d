/** Renews the images of the documents: pages over the site of the browser tests, 1100 pixels wide. Look at them afterwards. */

import { join } from 'node:path'
import { startChromium } from '../test/web/browser/chromium.ts'
import { openWindow, sessionOf, show } from '../test/web/browser/pages.ts'
import { makeSite } from '../test/web/browser/site.ts'

const FOLDER = join(import.meta.dirname, '../docs/images')

const site = await makeSite()
const browser = await startChromium()
const { page, context } = await openWindow(browser, site, { width: 1100, cookie: await sessionOf(site) })
const images = [
  ['explorer', 740, `/domain/${site.hub}`, 'has a website'],
  ['history', 700, `/domain/${site.hub}/history`, 'Time lines'],
  ['files', 740, '/account/files', 'Snapshots'],
  ['reference', 700, '/docs/lookup', '/v1.0/lookup'],
] as const
for (const [name, height, path, text] of images) {
  await page.setViewportSize({ width: 1100, height })
  await show(page, { path, text })
  await page.screenshot({ path: join(FOLDER, `${name}.png`) })
}
await context.close()
await browser.close()
await site.mailbox.close()
process.exit() // the world would wait for a test
