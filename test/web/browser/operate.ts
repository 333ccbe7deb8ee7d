/** The pages of operators in a browser: each in both colour schemes and two widths, and what an operator does there. */

import assert from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'
import { visitAsOperator } from '../../admin/operators.ts'
import { openWindow, type PageCase, sessionOf, show, VARIANTS } from './pages.ts'
import type { Site } from './site.ts'

type CheckPage = (page: Page, each: PageCase, variant: string) => Promise<void>

const EMAIL = 'new-customer@example.com'

/** Checks every page of operators. */
export async function checkOperatorPages(browser: Browser, site: Site, check: CheckPage): Promise<void> {
  const { headers } = await visitAsOperator(site.world)
  const cases = [
    ['operator', '/operator', 'Create an account'],
    ['operator-account', `/operator/accounts/${site.account.id}`, 'Usage of the last 30 days'],
    ['operator-crawl', '/operator/crawl', 'the last one was 9 days ago'],
    ['operator-usage', '/operator/usage', 'Calls by account'],
    ['operator-audit', '/operator/audit?action=account.create', 'user0@example.com'],
  ] as const
  for (const { scheme, width } of VARIANTS) {
    const { page, context, complaints } = await openWindow(browser, site, { scheme, width, cookie: headers.Cookie! })
    for (const [name, path, text] of cases)
      await check(page, { name, path, text, signedIn: true }, `${scheme}-${width}`)
    assert.deepEqual(complaints, [])
    await context.close()
  }
}

/** Creates an account, changes what it may do, gives it a token, and suspends it. */
export async function operateAccount(browser: Browser, site: Site): Promise<void> {
  const { world, hub } = site
  const { headers } = await visitAsOperator(world)
  const { page, context, complaints } = await openWindow(browser, site, { cookie: headers.Cookie! })
  await page.goto('/')
  await page.getByRole('link', { name: 'Operator' }).click()
  await page.getByRole('button', { name: 'Create an account' }).click()
  await page.getByRole('dialog').getByLabel('Email address').fill(EMAIL)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: EMAIL }).waitFor()
  await page.getByLabel('Base plan').selectOption('premium')
  await page.locator('.facts').getByText('premium').waitFor()
  await page.getByLabel('First day').fill('2026-12-01')
  await page.getByRole('button', { name: 'Add the period' }).click()
  await page.getByRole('row', { name: /2026-12-01.*open.*basic/ }).waitFor()
  await page.getByRole('button', { name: 'Add export' }).click()
  await page.getByRole('button', { name: 'Remove export' }).waitFor()
  await page.getByLabel('Name of a new token').fill('shop')
  await page.getByRole('button', { name: 'Create the token' }).click()
  const token = await page.locator('.secret code').innerText()
  await page.getByRole('button', { name: 'Done' }).click()
  assert.equal((await world.ask('lookup', { token, query: hub })).status, 200)
  await page.getByRole('button', { name: 'Suspend' }).click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  world.clock.ticks += 1_000
  assert.equal((await world.ask('lookup', { token, query: hub })).status, 401)
  await page.getByRole('link', { name: 'Audit log' }).click()
  await page.getByRole('row', { name: /account\.suspend.*new-customer@example\.com/ }).waitFor()
  await page.getByLabel('Change', { exact: true }).selectOption('account.create')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.waitForURL(/action=account\.create/)
  await page.getByRole('row', { name: /account\.suspend/ }).waitFor({ state: 'detached' })
  await page
    .getByRole('row', { name: /account\.create/ })
    .first()
    .waitFor()
  assert.equal(await page.getByRole('row', { name: /account\.suspend/ }).count(), 0)
  await page.getByRole('link', { name: 'Usage' }).click()
  await page
    .getByRole('row', { name: new RegExp(`${EMAIL}|user0@`) })
    .first()
    .waitFor()
  await page.getByRole('link', { name: 'Crawl and jobs' }).click()
  const release = page.getByRole('button', { name: 'Release 2026-11-09' })
  await release.waitFor() // until then the first read of the page could be taken for the one after the release
  const readAgain = page.waitForResponse((response) => response.url().endsWith('/admin/v1/operation'))
  await release.click()
  await readAgain // a request that has arrived but not begun would have waited too long after the next line
  world.clock.ticks += 10_000
  await page.reload()
  await page.getByText('released, being built').waitFor()
  assert.deepEqual(await world.store.ledger.releaseRequests(), ['2026-11-09'])
  await page.getByRole('link', { name: 'Accounts' }).click()
  await page.getByLabel('Email address starts with').fill('new-')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: new RegExp(`${EMAIL}.*suspended`) }).waitFor()
  assert.deepEqual(complaints, [])
  await context.close()
}

/** Deletes the account of `operateAccount`, whose usage and entries stay under its number. */
export async function deleteAccount(browser: Browser, site: Site): Promise<void> {
  const { headers } = await visitAsOperator(site.world)
  const { page, context } = await openWindow(browser, site, { cookie: headers.Cookie! })
  await page.goto('/operator?search=new-')
  await page.getByRole('link', { name: EMAIL }).click()
  await page.getByRole('heading', { name: EMAIL }).waitFor()
  const number = /\d+$/.exec(page.url())![0]
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`stay under its number ${number}`).waitFor()
  await dialog.getByLabel('Type the email address').fill(EMAIL)
  await dialog.getByRole('button', { name: 'Delete the account' }).click()
  await page.getByRole('heading', { name: 'All accounts' }).waitFor()
  await page.getByRole('link', { name: 'Audit log' }).click()
  await page.getByRole('row', { name: new RegExp(`account\\.delete.*deleted account ${number} `) }).waitFor()
  await page.getByRole('link', { name: 'Usage' }).click()
  const row = page.getByRole('row', { name: `deleted account ${number}` })
  await row.waitFor()
  assert.equal(await row.getByRole('link').count(), 0, 'it has no page any more')
  await context.close()
}

/** The forms of operators stay in step with the address, also if it is refused. */
export async function followAddresses(browser: Browser, site: Site): Promise<void> {
  const { headers } = await visitAsOperator(site.world)
  const { page, context } = await openWindow(browser, site, { cookie: headers.Cookie! })
  await page.goto('/operator/usage?from=2026-01-01&to=2026-06-01')
  await page.getByText('At most 93 days').waitFor()
  await page.getByLabel('From').fill('2026-05-01')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.waitForURL(/from=2026-05-01/)
  await page.getByText('At most 93 days').waitFor({ state: 'detached' })
  await page.goto('/operator')
  const search = page.getByLabel('Email address starts with')
  await search.fill('user0')
  await page.keyboard.press('Enter')
  await page.waitForURL(/search=user0/)
  await page.goBack()
  await page.waitForFunction('document.querySelector("input[name=search]")?.value === ""')
  await show(page, { path: '/operator/accounts/abc', text: 'There is no such page' })
  await context.close()
}

/** A user sees no link to the pages of operators, and no data on them. */
export async function refuseUser(browser: Browser, site: Site): Promise<void> {
  const { page, context } = await openWindow(browser, site, { cookie: await sessionOf(site) })
  await show(page, { path: '/operator', text: 'This page is for operators' })
  assert.equal(await page.getByRole('link', { name: 'Operator', exact: true }).count(), 0)
  await context.close()
}
