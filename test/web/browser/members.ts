/** What members do in a browser: accounts by mail, passwords, sessions, tokens, and data of views. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { visit } from '../../app/sessions.ts'
import { until } from '../../until.ts'
import { openWindow, sessionOf, show } from './pages.ts'
import { BUSY, MAILED_SITE, type Site, UNICODE } from './site.ts'

const PASSWORD = 'charts of the old harbour'
const NEW_PASSWORD = 'letters of the lighthouse'

/** The path of the newest link to a page in the mails to an address. */
async function mailedPath({ mailbox }: Site, email: string, page: string): Promise<string> {
  const pattern = new RegExp(`${MAILED_SITE}(/${page}#code=[\\w-]{43})`)
  const codes = () => mailbox.received.filter(({ to }) => to.includes(email)).map(({ text }) => pattern.exec(text)?.[1])
  return until(() => codes().findLast(Boolean), `a link to /${page}`)
}

async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.goto('/sign-in')
  await page.getByLabel('Email address', { exact: true }).fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.locator('main').getByRole('button', { name: 'Sign in' }).click()
}

async function choosePassword(page: Page, path: string, password: string): Promise<void> {
  await page.goto('about:blank') // an address that differs in its code only would not be loaded
  await page.goto(path)
  await page.getByLabel('New password', { exact: true }).fill(password)
  await page.locator('main form button[type=submit]').click()
  await page.getByRole('link', { name: 'Account' }).first().waitFor()
}

/** Creates an account, signs out, and replaces the forgotten password. */
export async function signUpByMail(browser: Browser, site: Site): Promise<void> {
  const email = 'captain@example.com'
  const { page, context } = await openWindow(browser, site)
  await page.goto('/sign-in')
  await page.getByRole('link', { name: 'Create one' }).click()
  await page.getByLabel('Email address', { exact: true }).fill(email)
  await page.locator('main form button[type=submit]').click()
  await page.getByText(`A mail is on its way to ${email}`).waitFor()
  await choosePassword(page, await mailedPath(site, email, 'verify'), PASSWORD)
  await page.goto('/account')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
  await page.goto('/reset')
  await page.getByLabel('Email address', { exact: true }).fill(email)
  await page.locator('main form button[type=submit]').click()
  await choosePassword(page, await mailedPath(site, email, 'reset'), NEW_PASSWORD)
  await context.clearCookies()
  await signIn(page, email, PASSWORD)
  await page.getByRole('alert').waitFor()
  await signIn(page, email, NEW_PASSWORD)
  await page.getByText('left today').waitFor()
  await context.close()
}

/** Changes the password, which ends the other session, rotates a token, and ends a session. */
export async function manageAccount(browser: Browser, site: Site): Promise<void> {
  const { world } = site
  const { account, token } = await world.account({ plan: 'basic' })
  const { page, context, complaints } = await openWindow(browser, site, {
    cookie: (await visit(world, account)).headers.Cookie!,
  })
  await visit(world, account)
  await show(page, { path: '/account', text: 'Change the password' })
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('button', { name: 'End', exact: true }).waitFor({ state: 'detached' })
  await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('The password is changed').waitFor()
  await show(page, { path: '/account/tokens', text: 'Create a token' })
  await page.getByRole('button', { name: 'Rotate test' }).click()
  await page.getByRole('dialog').locator('.button.primary').click()
  const replacement = await page.locator('.secret code').innerText()
  for (const each of [token, replacement])
    assert.equal((await world.ask('lookup', { token: each, query: site.hub })).status, 200)
  assert.deepEqual(complaints, [])
  await context.close()
}

async function downloadOf(page: Page, name: string): Promise<string> {
  const waiting = page.waitForEvent('download')
  await page.getByRole('button', { name, exact: true }).click()
  return readFileSync(await (await waiting).path(), 'utf8')
}

export async function readViews(browser: Browser, site: Site): Promise<void> {
  const { account } = await site.world.account({ plan: 'basic' })
  const { page, context } = await openWindow(browser, site, { cookie: await sessionOf({ ...site, account }) })
  await show(page, { path: `/domain/${BUSY}/history?type=A`, text: 'Time line of A' })
  assert.equal(JSON.parse(await downloadOf(page, 'JSON')).length, 10)
  await page.getByRole('button', { name: 'Load older states (1 call)' }).click()
  await page.getByRole('button', { name: 'Load older states (1 call)' }).waitFor({ state: 'detached' })
  const csv = await downloadOf(page, 'CSV')
  assert.deepEqual([csv.split('\n')[0], csv.trimEnd().split('\n').length], ['type,first_seen,until,record', 13])
  await show(page, { path: `/domain/${UNICODE.name}`, text: UNICODE.unicode })
  await show(page, { path: '/no/such/page', text: 'There is no such page' })
  await page.getByRole('link', { name: 'Look up a domain' }).click()
  const recent = page.getByRole('navigation', { name: 'Looked up in this browser' })
  assert.deepEqual(await recent.getByRole('link').allInnerTexts(), [UNICODE.name, BUSY])
  await page.reload()
  await recent.getByRole('button', { name: 'Clear' }).click()
  await recent.waitFor({ state: 'detached' })
  await page.getByRole('textbox', { name: 'Domain, IP address or search' }).fill('999.1.1.1')
  await page.keyboard.press('Enter')
  await page.getByText('Enter a domain such as example.com').waitFor()
  await context.close()
}

/** Finds names by a part of them, from the search box, and narrows the search. */
export async function findNames(browser: Browser, site: Site): Promise<void> {
  const { page, context } = await openWindow(browser, site, { cookie: await sessionOf(site) })
  await show(page, { path: '/', text: 'left today' })
  await page.getByRole('textbox', { name: 'Domain, IP address or search' }).fill('192.0.2[.]0/24')
  await page.keyboard.press('Enter')
  await page.getByText('dropped.example').first().waitFor()
  await page.getByRole('textbox', { name: 'Domain, IP address or search' }).fill('harbour-*')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: site.hub, exact: true }).first().waitFor()
  await page.getByText('Filters', { exact: true }).click()
  await page.getByLabel('Website').selectOption('yes')
  await page.getByLabel('Below the suffix').fill('nowhere')
  await page.getByRole('button', { name: 'Search (1 call)' }).click()
  await page.getByText('No known name matches').waitFor()
  await page.getByText('Filters (2 in use)').waitFor()
  await page.getByLabel('Text, pattern or expression').fill('ab')
  await page.getByRole('button', { name: 'Search (1 call)' }).click()
  await page.getByText('has no 3 fixed characters in a row').waitFor()
  await context.close()
}

export async function spendCalls(browser: Browser, site: Site): Promise<void> {
  const { world, hub } = site
  const { account, token } = await world.account()
  for (let call = 0; call < 100; call++) await world.ask('lookup', { token, query: hub })
  const { page, context } = await openWindow(browser, site, { cookie: await sessionOf({ ...site, account }) })
  await show(page, { path: `/domain/${hub}`, text: 'No calls left today' })
  await page.getByRole('alert').getByText('00:00').first().waitFor()
  await context.close()
}
