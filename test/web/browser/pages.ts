/** The pages of the browser tests, and what must be true on each of them. */

import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Account } from '../../../src/accounts/account.ts'
import { SESSION_COOKIE } from '../../../src/api/auth/session-authenticator.ts'
import { visit } from '../../app/sessions.ts'
import { isLong } from '../../long.ts'
import { until } from '../../until.ts'
import { BUSY, HUB_CERTIFICATE, LONG, LONG_ADDRESS, LONG_CERTIFICATE, LONG_TARGET, type Site } from './site.ts'

/** Milliseconds that a busy machine may need for one step. */
const STEP_TIMEOUT_MS = 120_000

export type Scheme = 'light' | 'dark'

/** The schemes and widths in which the pages are checked: each once in the short form. */
export const VARIANTS: readonly { scheme: Scheme; width: number }[] = isLong
  ? [1280, 375].flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ scheme, width })))
  : [
      { scheme: 'light', width: 375 },
      { scheme: 'dark', width: 1280 },
    ]

/** Everything in the console that is an error or a warning, and every exception. */
export type Complaints = string[]

type ContextOptions = { scheme?: Scheme; width?: number; cookie?: string | null }

/** A window of the browser, with the clock of the world. `cookie`: the session; null: nobody is signed in. */
export async function openWindow(browser: Browser, { world }: Site, options: ContextOptions = {}) {
  const { scheme = 'light', width = 1280, cookie = null } = options
  const context = await browser.newContext({
    baseURL: world.address,
    colorScheme: scheme,
    reducedMotion: 'reduce',
    viewport: { width, height: width < 600 ? 812 : 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  context.setDefaultTimeout(STEP_TIMEOUT_MS)
  if (cookie !== null) await addSession(context, cookie, world.address)
  const page = await context.newPage()
  await page.clock.setFixedTime(world.clock.now * 1_000)
  return { context, page, complaints: collectComplaints(page) }
}

async function addSession(context: BrowserContext, cookie: string, url: string): Promise<void> {
  const [, value = ''] = cookie.split('=', 2)
  await context.addCookies([{ name: SESSION_COOKIE, value, url: url.replace('http:', 'https:'), secure: true }])
}

/** The cookie of a new session of the site's account. */
export async function sessionOf({ world, account }: Pick<Site, 'world' | 'account'>): Promise<string> {
  return (await visit(world, account)).headers.Cookie!
}

function collectComplaints(page: Page): Complaints {
  const complaints: Complaints = []
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} (${message.location().url})`)
  })
  return complaints
}

/** A page: its address, its name for the screenshot, and a text that is there once it has loaded. */
export type PageCase = { name: string; path: string; text: string; signedIn: boolean }

export function pageCases(hub: string): PageCase[] {
  const of =
    (signedIn: boolean) =>
    (name: string, path: string, text: string): PageCase => ({ name, path, text, signedIn })
  const open = of(false)
  const own = of(true)
  return [
    open('start', '/', 'Sign in first'),
    open('sign-in', '/sign-in', 'Password'),
    open('sign-up', '/sign-up', 'account'),
    open('reset', '/reset', 'Send a link'),
    open('docs', '/docs', '/v1.0/lookup'),
    own('home', '/', 'left today'),
    own('domain', `/domain/${hub}`, 'has a website'),
    own('domain-past', `/domain/${hub}?at=2024-03-01`, 'Existed'),
    own('domain-gone', '/domain/dropped.example?at=2026-06-01', 'Existed'),
    own('history', `/domain/${hub}/history`, 'Time lines'),
    own('history-type', `/domain/${hub}/history?type=A`, 'Time line of A'),
    own('web', `/domain/${hub}/web`, 'Website over time'),
    own('certificates', `/domain/${hub}/certificates`, 'In the names of'),
    own('certificate', `/certificate/${HUB_CERTIFICATE.sha256}`, 'sea-charts.example'),
    own('neighbours', `/domain/${hub}/neighbours`, 'shop-001.example'),
    own('redirects', `/domain/${hub}/redirects`, 'moved-away.example'),
    own('uses', '/domain/ns1.old-host.example/uses', 'harbour-books.example'),
    own('uses-text', `/domain/${hub}/uses?text=${encodeURIComponent('["v=spf1 mx -all"]')}`, '2025-03-21'),
    own('search', '/search?q=shop&tld=example', 'shop-001.example'),
    own('watches', '/watches?kind=suffix&value=example.com', 'the name no longer exists'),
    own('lookalikes', `/domain/${hub}/lookalikes`, 'harbour-book.example'),
    own('similar', `/domain/${hub}/similar`, 'sea-charts.example'),
    own('address', '/ip/198.51.100.7', 'shop-001.example'),
    own('address-past', '/ip/198.51.100.7?at=2024-03-01', 'harbour-books.example'),
    own('network', '/ip/192.0.2.0/24', 'dropped.example'),
    own('unknown-domain', '/domain/nobody.example', 'Nothing on record'),
    own('account', '/account', 'Change the password'),
    own('tokens', '/account/tokens', 'Create a token'),
    own('usage', '/account/usage', 'The last 30 days'),
    own('files', '/account/files', 'Snapshots'),
  ]
}

/** The pages with the longest values. */
export function longCases(): PageCase[] {
  const path = `/domain/${LONG}`
  const types = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'TXT', 'SOA']
  return [
    ['domain', path, 'has a website'],
    ['history', `${path}/history`, 'Time lines'],
    ...types.map((type) => [`history-${type}`, `${path}/history?type=${type}`, `Time line of ${type}`] as const),
    ['certificates', `${path}/certificates`, 'In the names of'],
    ['certificate', `/certificate/${LONG_CERTIFICATE.sha256}`, 'shop10'],
    ['neighbours', `${path}/neighbours`, 'shop10'],
    ['redirects', `/domain/${LONG_TARGET}/redirects`, 'old10'],
    ['similar', `${path}/similar`, 'shop10'],
    ['lookalikes', `${path}/lookalikes`, 'No known name'],
    ['watches', `/watches?kind=name&value=${LONG}`, 'new name'],
    ['search', `/search?q=${LONG.slice(0, 60)}`, LONG],
    ['address', `/ip/${LONG_ADDRESS}`, 'shop10'],
    ['past', `${path}?at=2026-11-20`, 'Existed'],
    ['times', `/ip/${LONG_ADDRESS}/128`, 'shop10'],
    ['busy', `/domain/${BUSY}/history`, 'Time lines'],
    ['account', '/account', 'Change the password'],
    ['tokens', '/account/tokens', 'Create a token'],
    ['usage', '/account/usage', 'The last 30 days'],
    ['unknown', `/domain/${LONG.replaceAll('b', 'e')}`, 'Nothing on record'],
  ].map(([name, path, text]) => ({ name: `long-${name}`, path: path!, text: text!, signedIn: true }))
}

/** The pages of operators that show the account with the longest values. */
export function longOperatorCases({ id }: Account): PageCase[] {
  return [
    ['accounts', '/operator', 'mmmm'],
    ['account', `/operator/accounts/${id}`, 'Usage of the last 30 days'],
    ['usage', '/operator/usage', 'mmmm'],
    ['audit', '/operator/audit', 'mmmm'],
  ].map(([name, path, text]) => ({ name: `long-operator-${name}`, path: path!, text: text!, signedIn: true }))
}

/** Whether the reference, if the page shows it, has all entries to which its links lead. */
export async function isReferenceComplete(page: Page): Promise<boolean> {
  const count = (selector: string) => page.locator(selector).count()
  return (await count('.endpoint')) === (await count('.reference-nav a'))
}

/** Opens a page, with the lists that load on request, and waits until it shows its data. */
export async function show(page: Page, { path, text }: Pick<PageCase, 'path' | 'text'>): Promise<void> {
  await page.goto(path)
  await page.locator('main').getByText(text).first().waitFor()
  await page.locator('main:not(:has(.loading))').waitFor()
  await until(() => isReferenceComplete(page))
  const closed = page.getByRole('button', { name: /^Show \S+.* \(1 call\)$/ })
  while ((await closed.count()) > 0) {
    await closed.first().click()
    await page.locator('main:not(:has(.loading))').waitFor()
    await page.evaluate('scrollTo(0, 0)')
  }
}
