/** The web page in a real browser: every page in both colour schemes and two widths, and what people do on them. */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { PasswordHasher } from '../../src/api/auth/password-hasher.ts'
import { visitAsOperator } from '../admin/operators.ts'
import { isLong } from '../long.ts'
import { TESTER } from '../tester.ts'
import { callOnce, loadAreas, outliveRelease, readReference } from './browser/areas.ts'
import { seriousProblems } from './browser/axe.ts'
import { NO_BROWSER, startChromium } from './browser/chromium.ts'
import { layoutProblems } from './browser/layout.ts'
import { findNames, manageAccount, readViews, signUpByMail, spendCalls } from './browser/members.ts'
import { checkOperatorPages, deleteAccount, followAddresses, operateAccount, refuseUser } from './browser/operate.ts'
import {
  longCases,
  longOperatorCases,
  openWindow,
  type PageCase,
  pageCases,
  type Scheme,
  sessionOf,
  show,
  VARIANTS,
} from './browser/pages.ts'
import { HOSTILE, makeLongAccount, makeSite, type Site } from './browser/site.ts'
import { setMailAndFeed, useWebhook, watchNames } from './browser/watches.ts'

const SCREENSHOTS = join(import.meta.dirname, '../../test-output/screenshots')
/** The width of the document and that of the window. */
const WIDTHS = '[document.documentElement.scrollWidth, document.documentElement.clientWidth]'
/** Milliseconds that a busy machine may need for all of it. */
const TIMEOUT_MS = 900_000
const PASSWORD = 'charts of the old harbour'

test('the web page in a browser', { skip: NO_BROWSER ?? false, timeout: TIMEOUT_MS }, async (t) => {
  const site = await makeSite()
  const browser = await startChromium()
  try {
    await checkPages(t, browser, site)
    await t.test('the longest values overlap nothing and are cut off nowhere', () => checkLongValues(browser, site))
    await t.test('sign in, create a token, use it, see the usage, revoke it', () => useToken(browser, site))
    await t.test('explore a domain in every view; going back costs nothing', () => explore(browser, site))
    await t.test('text of records and pages never becomes markup', () => showHostileText(browser, site))
    await t.test('read the calendar and download a file', () => downloadFile(browser, site))
    await t.test('the keyboard alone reaches a state of the history', () => useKeyboard(browser, site))
    await t.test('the colour scheme is kept', () => switchScheme(browser, site))
    await t.test('a view loads the scripts of its area', () => loadAreas(browser, site))
    await t.test('a view makes its first call once', () => callOnce(browser, site))
    await t.test('read the reference from an entry on', () => readReference(browser, site))
    await t.test('a page of the former release opens another area', () => outliveRelease(browser, site))
    await t.test('errors say what to do', () => showErrors(browser, site))
    await t.test('sign up by mail, and reset the password by mail', () => signUpByMail(browser, site))
    await t.test('change the password, rotate a token, end another session', () => manageAccount(browser, site))
    await t.test('download a view, load older states, find a page that is missing', () => readViews(browser, site))
    await t.test('find names by a part of them', () => findNames(browser, site))
    await t.test('watch names from a preview to an event', () => watchNames(browser, site))
    await t.test('send events to a webhook', () => useWebhook(browser, site))
    await t.test('set the mail and the feed of events', () => setMailAndFeed(browser, site))
    await t.test('spend all calls of the day', () => spendCalls(browser, site))
    await t.test('every page of operators', () => checkOperatorPages(browser, site, checkPage))
    await t.test('operate an account', () => operateAccount(browser, site))
    await t.test('delete an account', () => deleteAccount(browser, site))
    await t.test('the forms of operators follow the address', () => followAddresses(browser, site))
    await t.test('a user does not reach the pages of operators', () => refuseUser(browser, site))
  } finally {
    await browser.close()
    await site.mailbox.close()
  }
})

async function checkPages(t: TestContext, browser: Browser, site: Site): Promise<void> {
  if (isLong) mkdirSync(SCREENSHOTS, { recursive: true })
  const cookie = await sessionOf(site)
  for (const { scheme, width } of VARIANTS) {
    const title = `${scheme}, ${width} px: accessible, no error in the console, no sideways scroll`
    await t.test(title, async () => {
      const own = await openWindow(browser, site, { scheme, width, cookie })
      const open = await openWindow(browser, site, { scheme, width })
      for (const each of pageCases(site.hub).filter(({ name }) => isLookedAt(name, width)))
        await checkPage(each.signedIn ? own.page : open.page, each, `${scheme}-${width}`)
      const expected = [/404 .*\/domain\/nobody\.example/]
      const complaints = [...own.complaints, ...open.complaints]
      assert.deepEqual(
        complaints.filter((each) => !expected.some((pattern) => pattern.test(each))),
        [],
      )
      await own.context.close()
      await open.context.close()
    })
  }
}

/** Whether a page is looked at in a width. In the short form only every other page is in the wide one. */
function isLookedAt(name: string, width: number): boolean {
  return isLong || width === 375 || name.length % 2 === 1
}

/**
 * Whether axe looks at a page. The short form has only the two variants below, and axe looks at each page in one of them:
 * it takes two thirds of the time.
 */
function isForAxe(name: string, variant: string): boolean {
  if (isLong) return variant !== 'dark-375'
  return variant === (name.length % 2 === 0 ? 'light-375' : 'dark-1280')
}

/** Only the layout: axe and both schemes have seen these pages with shorter values. */
async function checkLongValues(browser: Browser, site: Site): Promise<void> {
  const account = await makeLongAccount(site)
  const operator = await visitAsOperator(site.world)
  const windows = [
    [await sessionOf({ world: site.world, account }), longCases()],
    [operator.headers.Cookie!, longOperatorCases(account)],
  ] as const
  const problems: string[] = []
  for (const width of [1280, 375])
    for (const [cookie, cases] of windows) {
      const { page, context } = await openWindow(browser, site, { width, cookie })
      for (const each of cases.filter(({ name }) => isLookedAt(name, width))) {
        await show(page, each)
        const [content = 0, inner = 0] = await page.evaluate<number[]>(WIDTHS)
        if (content > inner) problems.push(`${each.name} at ${width} px scrolls sideways: ${content} > ${inner}`)
        problems.push(...(await layoutProblems(page)).map((problem) => `${each.name} at ${width} px: ${problem}`))
        await keepScreenshot(page, each, String(width))
      }
      await context.close()
    }
  assert.deepEqual(problems, [])
}

async function checkPage(page: Page, each: PageCase, variant: string): Promise<void> {
  await show(page, each)
  const [content = 0, width = 0] = await page.evaluate<number[]>(WIDTHS)
  assert.ok(content <= width, `${each.name} scrolls sideways: ${content} > ${width}`)
  assert.equal(await page.locator('h1').count(), 1, each.name)
  assert.deepEqual(
    await page.evaluate<string[]>('[...started.calls.keys()]'),
    [],
    `${each.name} uses the calls that it started`,
  )
  assert.deepEqual(await layoutProblems(page), [], `${each.name} at ${width} px`)
  if (isForAxe(each.name, variant)) assert.deepEqual(await seriousProblems(page), [], each.name)
  await keepScreenshot(page, each, variant)
}

/** Screenshots are for people, and cost as much as a check: only the long form keeps them. */
async function keepScreenshot(page: Page, { name }: PageCase, variant: string): Promise<void> {
  if (isLong) await page.screenshot({ path: join(SCREENSHOTS, `${name}-${variant}.png`), fullPage: name !== 'docs' })
}

async function useToken(browser: Browser, site: Site): Promise<void> {
  const { world, hub } = site
  const { account } = await world.account({ plan: 'basic' })
  const hash = await new PasswordHasher().hash(PASSWORD)
  await world.store.ledger.as(TESTER).setPassword(account.id, hash, null, world.clock.now)
  const { page, context, complaints } = await openWindow(browser, site)
  await page.goto('/account/tokens')
  await page.getByLabel('Email address').fill(account.email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.locator('main').getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Create a token' }).click()
  await page.getByLabel('Name').fill('nightly report')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const token = await page.locator('.secret code').innerText()
  assert.match(await page.locator('.code-block code').innerText(), new RegExp(`curl .*/v1\\.0/lookup.*${token}`))
  assert.equal((await world.ask('lookup', { token, query: hub })).status, 200)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.reload()
  assert.equal(await page.getByText(token).count(), 0)
  await page.getByRole('row', { name: /nightly report.*1/ }).waitFor()
  await page.getByRole('link', { name: 'Usage' }).click()
  await page
    .locator('.big-number')
    .getByText('1', { exact: true })
    .or(page.locator('.big-number', { hasText: /^1 / }))
    .first()
    .waitFor()
  await page.getByRole('link', { name: 'Tokens' }).click()
  await page.getByRole('button', { name: 'Revoke nightly report' }).click()
  await page.getByRole('button', { name: 'Revoke the token' }).click()
  await page.getByText('revoked', { exact: true }).waitFor()
  world.clock.ticks += 1_000
  assert.equal((await world.ask('lookup', { token, query: hub })).status, 401)
  assert.deepEqual(complaints, [])
  await context.close()
}

async function explore(browser: Browser, site: Site): Promise<void> {
  const { page, context } = await openWindow(browser, site, { cookie: await sessionOf(site) })
  const calls: string[] = []
  page.on('request', (request) => {
    if (request.resourceType() === 'fetch' && /\/(app\/api|domain|ip)\//.test(request.url())) calls.push(request.url())
  })
  await page.goto('/')
  await page
    .getByRole('textbox', { name: 'Domain, IP address or search' })
    .fill(`hxxps://${site.hub.replace('.', '[.]')}/shop`)
  await page.keyboard.press('Enter')
  await page.getByText('has a website with a valid certificate').waitFor()
  const tabs = [
    ['DNS history', 'Time lines'],
    ['Certificates', 'Test CA R3'],
    ['Neighbours', '130 neighbours'],
    ['Redirects', 'moved-away.example'],
    ['Similar pages', 'quay-letters.example'],
  ] as const
  for (const [tab, text] of tabs) {
    const link = page.getByRole('link', { name: new RegExp(`^${tab}`) })
    assert.match(await link.innerText(), /1 call/)
    await link.click()
    await page.locator('main').getByText(text).first().waitFor()
  }
  assert.equal(calls.length, 6)
  await page.goBack()
  await page.getByText('moved-away.example').waitFor()
  await page.getByRole('link', { name: /^Overview/ }).click()
  await page.getByText('has a website with a valid certificate').waitFor()
  assert.equal(calls.length, 6)
  await page.getByRole('link', { name: /^Certificates/ }).click()
  await page.getByRole('button', { name: 'Show certificates (1 call)' }).click()
  await page.getByText(`*.${site.hub}`).waitFor()
  assert.equal(calls.length, 7)
  await page.getByRole('link', { name: /^Overview/ }).click()
  await page.getByText('Repeat this call from a program').click()
  const code = await page.locator('.code-block code').innerText()
  assert.match(code, /\$DOMAINDEX_TOKEN/)
  await page.getByRole('main').getByRole('link', { name: '198.51.100.7' }).first().click()
  await page.getByRole('heading', { name: '131 domains on this address' }).waitFor()
  await page.getByRole('button', { name: 'Load more (1 call)' }).click()
  await page.getByText('131 shown').waitFor()
  assert.equal(calls.length, 9)
  for (const [path, text] of [
    [`/domain/${site.hub}`, 'has a website with a valid certificate'],
    [`/domain/${site.hub}/history`, 'Time lines'],
  ] as const) {
    calls.length = 0
    await show(page, { path, text })
    assert.equal(calls.length, 1, `the document starts the call of ${path}`)
  }
  await context.close()
}

async function showHostileText(browser: Browser, site: Site): Promise<void> {
  const { page, context } = await openWindow(browser, site, { cookie: await sessionOf(site) })
  for (const view of ['', '/history?type=TXT']) {
    await show(page, { path: `/domain/${site.hub}${view}`, text: HOSTILE })
    assert.equal(await page.locator('main img, main script').count(), 0)
    assert.doesNotMatch(await page.title(), /owned/)
  }
  await context.close()
}

async function downloadFile(browser: Browser, site: Site): Promise<void> {
  const { page, context } = await openWindow(browser, site, { cookie: await sessionOf(site) })
  await show(page, { path: '/account/files?month=2026-11', text: 'Snapshots' })
  const day = page.getByRole('button', { name: /^2026-11-05: File to download/ })
  assert.match(await day.locator('.hidden').innerText(), /, [\d,]+ names, /)
  await day.click()
  await page.getByText('Follow-up after 7 days').waitFor()
  const waiting = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download 2026-11-05.txt.gz' }).click()
  const download = await waiting
  assert.equal(download.suggestedFilename(), '2026-11-05.txt.gz')
  assert.equal(gunzipSync(readFileSync(await download.path())).toString(), 'new-16.example\n')
  await page.getByRole('button', { name: /^2026-11-08: No file/ }).click()
  await page.getByText('there is no file for it').waitFor()
  await show(page, { path: '/account/files?month=2026-08', text: 'August 2026' })
  await page.getByRole('button', { name: /^2026-08-15: Between two periods/ }).click()
  await page.getByText('in the gap between two').waitFor()
  await show(page, { path: '/account/files?month=2025-12', text: 'Before your subscription' })
  await context.close()
}

async function useKeyboard(browser: Browser, site: Site): Promise<void> {
  const { page, context } = await openWindow(browser, site, { cookie: await sessionOf(site) })
  await show(page, { path: `/domain/${site.hub}/history?type=A`, text: 'Time line of A' })
  const detail = page.getByRole('region', { name: 'Selected state' })
  const isOnBar = () => page.evaluate<boolean>(`document.activeElement.matches('.bar')`)
  for (let count = 0; count < 60 && !(await isOnBar()); count++) await page.keyboard.press('Tab')
  assert.ok(await isOnBar())
  await detail.getByText('A from 2026-06-30 until now').waitFor()
  await page.keyboard.press('ArrowLeft')
  await detail.getByText('A from 2024-02-01 until 2026-06-30').waitFor()
  assert.match(await detail.locator('.came').innerText(), /^new:\s198\.51\.100\.8$/)
  await page.keyboard.press('Home')
  await detail.getByText('A from 2021-03-04').waitFor()
  await context.close()
}

async function switchScheme(browser: Browser, site: Site): Promise<void> {
  const { page, context } = await openWindow(browser, site)
  const scheme = (): Promise<Scheme> =>
    page.evaluate<Scheme>(`getComputedStyle(document.body).color === 'rgb(23, 25, 29)' ? 'light' : 'dark'`)
  await show(page, { path: '/', text: 'Sign in' })
  assert.equal(await scheme(), 'light')
  await page.getByRole('button', { name: 'Use dark colours' }).click()
  assert.equal(await scheme(), 'dark')
  await page.reload()
  assert.equal(await scheme(), 'dark')
  await context.close()
}

async function showErrors(browser: Browser, site: Site): Promise<void> {
  const { account } = await site.world.account({ plan: 'free' })
  const { page, context } = await openWindow(browser, site, { cookie: await sessionOf({ ...site, account }) })
  await show(page, { path: `/domain/${site.hub}/history`, text: 'Your plan does not include this' })
  await show(page, { path: '/account/files', text: 'Needs Basic or Premium' })
  await show(page, { path: '/certificate/abc', text: 'This is not the SHA-256 of a certificate' })
  await show(page, { path: '/domain/exa%20mple.com', text: 'This is not a domain' })
  await context.setOffline(true)
  await page.getByRole('link', { name: /^Neighbours/ }).click()
  await page.getByText('The server cannot be reached').waitFor()
  await context.setOffline(false)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('This is not a domain').waitFor()
  await context.setOffline(true)
  await page.getByRole('link', { name: 'Reference', exact: true }).click()
  await page.getByText('This page cannot be loaded').waitFor()
  await context.setOffline(false)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'API reference' }).waitFor()
  await context.clearCookies()
  await page.goto('/account/usage')
  await page.waitForURL(/\/sign-in\?next=%2Faccount%2Fusage/)
  await context.close()
}
