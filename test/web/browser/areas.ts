/** What people notice of the areas of the page: which scripts a view loads, and the reference that completes itself. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { MANIFEST_FILE, type PageManifest, preparePageBundle } from '../../../src/api/page/bundle.ts'
import { until } from '../../until.ts'
import { isReferenceComplete, openWindow, sessionOf } from './pages.ts'
import type { Site } from './site.ts'

/** Each view loads the scripts of its own area only; who is not signed in loads those of the sign-in. */
export async function loadAreas(browser: Browser, site: Site): Promise<void> {
  const cookie = await sessionOf(site)
  const { areas } = JSON.parse(readFileSync(join(await preparePageBundle(), MANIFEST_FILE), 'utf8')) as PageManifest
  for (const [path, heading, signedIn, expected] of [
    ['/', 'What is behind a domain?', true, []],
    [`/domain/${site.hub}`, site.hub, true, ['explorer']],
    ['/watches', 'Watches', true, ['watches']],
    ['/watches', 'Sign in', false, ['sign-in']],
    ['/account', 'Account', true, ['account']],
    ['/docs', 'API reference', false, ['reference']],
  ] as const) {
    const { page, context } = await openWindow(browser, site, signedIn ? { cookie } : {})
    const loaded: string[] = []
    page.on('request', (request) => loaded.push(basename(request.url())))
    await page.goto(path)
    await page.getByRole('heading', { name: heading, exact: true }).first().waitFor()
    const found = Object.entries(areas).filter(([, file]) => loaded.includes(file))
    assert.deepEqual(
      found.map(([area]) => area),
      expected,
      path,
    )
    if (path === '/') {
      await page.getByRole('link', { name: 'Watches' }).hover()
      await until(() => loaded.includes(areas.watches!), 'the watches ahead of a click')
    }
    await context.close()
  }
}

/** A view makes its first call once, also if that fails: the answer 404 is charged too. */
export async function callOnce(browser: Browser, site: Site): Promise<void> {
  const { page, context } = await openWindow(browser, site, { cookie: await sessionOf(site) })
  const calls: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (request.resourceType() === 'fetch' && pathname !== '/app/usage') calls.push(pathname + search)
  })
  for (const [path, text, call] of [
    [`/domain/${site.hub}`, 'has a website', `/domain/${site.hub}`],
    [`/domain/${site.hub}/history`, 'Time lines', `/app/api/dnshistory?query=${site.hub}&limit=100`],
    ['/domain/nobody.example', 'Nothing on record', '/domain/nobody.example'],
    ['/ip/198.51.100.7', 'shop-001.example', '/ip/198.51.100.7'],
    ['/account/tokens', 'Create a token', '/app/tokens'],
    ['/docs', '/v1.0/lookup', '/openapi.json'],
  ] as const) {
    calls.length = 0
    await page.goto(path)
    await page.locator('main').getByText(text).first().waitFor()
    assert.deepEqual(calls, [call])
  }
  await context.close()
}

/** Follows the link to an entry as soon as the first one is shown. */
const FOLLOW_AT_ONCE = `new MutationObserver((_, observer) => {
  if (document.querySelector('.endpoint') === null) return
  observer.disconnect()
  window.wasThere = document.getElementById('dnshistory') !== null
  window.location.hash = 'dnshistory'
}).observe(document, { childList: true, subtree: true })`

/** An address with an entry shows it, and a link to another leads there, also before that is there. */
export async function readReference(browser: Browser, site: Site): Promise<void> {
  const { page, context } = await openWindow(browser, site)
  const place = (id: string) => page.locator(`#${id}`).evaluate((element) => element.getBoundingClientRect().top)
  await page.goto('/docs/similar')
  await page.locator('#similar .endpoint-summary').waitFor()
  assert.ok(await isReferenceComplete(page))
  assert.ok(Math.abs(await place('similar')) < 200)
  await page.addInitScript(FOLLOW_AT_ONCE)
  await page.goto('/docs')
  await page.locator('#dnshistory .endpoint-summary').waitFor()
  assert.ok(Math.abs(await place('dnshistory')) < 200)
  assert.equal(await page.evaluate('wasThere'), false)
  await page.getByRole('link', { name: 'your account' }).first().click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goBack()
  await page.locator('.endpoint').first().waitFor()
  assert.ok(await isReferenceComplete(page))
  await context.close()
}

/** The server has another release than the page: its scripts are gone, and the page loads the new document by itself. */
export async function outliveRelease(browser: Browser, site: Site): Promise<void> {
  const { page, context } = await openWindow(browser, site)
  let documents = 0
  page.on('request', (request) => {
    if (request.isNavigationRequest()) documents++
  })
  await page.route(/\/assets\/area-/, (route) =>
    documents === 1 ? route.fulfill({ status: 404, body: 'gone' }) : route.continue(),
  )
  await page.goto('/')
  await page.getByRole('link', { name: 'Reference', exact: true }).click()
  await page.getByRole('heading', { name: 'API reference' }).waitFor()
  assert.equal(documents, 2)
  await context.close()
}
