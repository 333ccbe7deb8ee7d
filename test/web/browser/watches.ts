/** What people do on the page of watches, in a browser. */

import assert from 'node:assert/strict'
import type { Browser, Page, Route } from 'playwright-core'
import { look, ok } from '../../spec/observations.ts'
import type { World } from '../../spec/world.ts'
import { openWindow, sessionOf, show } from './pages.ts'
import type { Site } from './site.ts'
import { deliver } from './watched.ts'

/** Creates a watch from the page of a domain, sees its preview and its event, mutes it and removes it. */
export async function watchNames(browser: Browser, site: Site): Promise<void> {
  const { world, hub } = site
  const { account } = await world.account({ plan: 'basic' })
  const cookie = await sessionOf({ world, account })
  const { page, context, complaints } = await openWindow(browser, site, { cookie })
  for (const [path, text, kind, value] of [
    [`/domain/${hub}/lookalikes`, 'harbour-book.example', 'lookalikes', hub],
    ['/ip/192.0.2.0/24', 'dropped.example', 'address', '192.0.2.0/24'],
    ['/search?q=harbour', hub, 'pattern', 'harbour'],
  ] as const) {
    await show(page, { path, text })
    await page
      .getByRole('link', { name: `Watch ${value}` })
      .last()
      .click()
    await page.getByText('You watch nothing yet').waitFor()
    const fields = [page.getByLabel('Watch', { exact: true }), page.getByLabel('Value')]
    assert.deepEqual(await Promise.all(fields.map((field) => field.inputValue())), [kind, value])
  }
  await show(page, { path: `/domain/${hub}`, text: 'has a website' })
  await page.getByRole('link', { name: `Watch ${hub}` }).click()
  await page.getByText('You watch nothing yet').waitFor()
  await page.getByText('No event in the last 30 days').waitFor()
  assert.equal(await page.getByLabel('Value').inputValue(), hub)
  await page.getByRole('button', { name: 'Preview the last 30 days (1 call)' }).click()
  const preview = page.getByRole('region', { name: /it would have matched \d+ change/ })
  await preview.getByRole('row', { name: new RegExp(`${hub} DNS records`) }).waitFor()
  await page.getByLabel('Watch', { exact: true }).selectOption('suffix')
  await preview.waitFor({ state: 'detached' })
  await page.getByLabel('Value').fill('https://pier.example/')
  await page.getByRole('button', { name: 'Create the watch' }).click()
  await page.getByText('The value does not fit the kind suffix').waitFor()
  await page.getByLabel('Value').fill('pier.example')
  await page.getByLabel('certificate').uncheck()
  await page.getByRole('button', { name: 'Create the watch' }).click()
  await page.getByRole('row', { name: /pier\.example All names below a suffix.* website, redirect 2026/ }).waitFor()
  await page.getByText('1 of 1,000 used').waitFor()
  await page.getByRole('switch', { name: 'Live' }).click()
  await world.ingest(look('new.pier.example', { dns: ok({ A: ['192.0.2.70'] }) }))
  await page.getByRole('listitem').getByText('new name; A + 192.0.2.70').waitFor()
  await loadEachEventOnce(page, world)
  await page.getByRole('switch', { name: 'Mute the watch of pier.example' }).click()
  await page.getByRole('switch', { name: 'Mute the watch of pier.example', checked: true }).waitFor()
  await page.getByRole('button', { name: 'Remove the watch of pier.example' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove the watch' }).click()
  await page.getByText('You watch nothing yet').waitFor()
  await page.getByRole('link', { name: 'new.pier.example' }).click()
  await page.getByRole('heading', { name: 'new.pier.example' }).waitFor()
  assert.deepEqual(
    complaints.filter((each) => !/400 .*\/watches/.test(each)),
    [],
  )
  await context.close()
}

/** Neither a double click nor switching to live events during the first load loads a page of events twice. */
async function loadEachEventOnce(page: Page, world: World): Promise<void> {
  const names = Array.from({ length: 60 }, (_, n) => `n${n}.pier.example`)
  await world.ingest(...names.map((name) => look(name, { dns: ok({ A: ['192.0.2.70'] }) })))
  const live = page.getByRole('switch', { name: 'Live' })
  const first = async (route: Route): Promise<void> => {
    await live.click()
    await route.continue()
  }
  await page.route(/events\?before=now/, first, { times: 1 })
  await page.reload()
  const older = page.getByRole('button', { name: 'Load older (1 call)' })
  await older.waitFor()
  const events = page.locator('.events li')
  assert.equal(await events.count(), 50)
  await older.dblclick()
  await older.waitFor({ state: 'detached' })
  assert.equal(await events.count(), 61)
  await events.filter({ hasText: 'pier.example (All names below a suffix)' }).first().waitFor()
  await live.click()
}

/** Adds a webhook, sees its secret once, tests it, sends an event again that was refused for days, and removes it. */
export async function useWebhook(browser: Browser, site: Site): Promise<void> {
  const { world } = site
  const { account } = await world.account({ plan: 'basic' })
  const { page, context } = await openWindow(browser, site, { cookie: await sessionOf({ world, account }) })
  const rule = { kind: 'name', value: 'sent.example', threshold: null, types: null } as const
  await world.store.ledger.createWatch(1, account.id, rule, world.clock.now)
  await show(page, { path: '/watches', text: 'The server can send each event' })
  await page.getByRole('button', { name: 'Add a webhook' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('URL').fill('https://10.0.0.1/hook')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('The URL cannot be used').waitFor()
  await dialog.getByLabel('URL').fill('https://receiver.example/hook')
  await dialog.getByLabel('Events of').selectOption('sent.example (A name)')
  await dialog.getByRole('button', { name: 'Create' }).click()
  assert.match(await dialog.locator('.secret code').innerText(), /^whsec_/)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('row', { name: 'https://receiver.example/hook sent.example (A name) never 0' }).waitFor()
  assert.equal(await page.getByText('whsec_').count(), 0)
  await world.ingest(look('sent.example', { dns: ok({ A: ['192.0.2.71'] }) }))
  const { now } = world.clock
  for (const days of [0, 4]) {
    world.clock.now = now + days * 86_400
    await deliver(world, false)
  }
  await page.reload()
  await page.getByRole('button', { name: 'Show 1 not delivered to https://receiver.example/hook' }).click()
  await dialog.getByRole('row', { name: /evt_\d+ .*HTTP status 500.*dead/ }).waitFor()
  await dialog.getByRole('button', { name: /^Send again the event/ }).click()
  await dialog.getByRole('button', { name: /^Send again the event/ }).waitFor({ state: 'detached' })
  await deliver(world, true)
  world.clock.now = now
  await page.reload()
  await page.getByRole('button', { name: 'Remove https://receiver.example/hook' }).click()
  await dialog.getByRole('button', { name: 'Remove the webhook' }).click()
  await page.getByText('The server can send each event').waitFor()
  await context.close()
}

/** Gets the events by mail each hour, and creates and removes the link to a feed, which shows them. */
export async function setMailAndFeed(browser: Browser, site: Site): Promise<void> {
  const { world } = site
  const { account } = await world.account({ plan: 'basic' })
  const { page, context } = await openWindow(browser, site, { cookie: await sessionOf({ world, account }) })
  await show(page, { path: '/watches', text: 'for a feed reader' })
  await page.getByLabel('Send a mail').selectOption('hourly')
  await page.getByText(`To ${account.email}, the next one in`).waitFor()
  await page.getByRole('button', { name: 'Create a link' }).click()
  const dialog = page.getByRole('dialog')
  const link = await dialog.locator('.secret code').innerText()
  assert.equal((await fetch(link)).headers.get('content-type')?.split(';')[0], 'application/atom+xml')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.reload()
  assert.equal(await page.getByLabel('Send a mail').inputValue(), 'hourly')
  await page.getByLabel('Send a mail').selectOption('off')
  await page.getByText(`To ${account.email}.`).waitFor()
  await page.getByRole('button', { name: 'Remove the link' }).click()
  await page.getByRole('button', { name: 'Create a link' }).waitFor()
  assert.equal((await fetch(link)).status, 401)
  await page.route('**/watches', async (route) => {
    if (route.request().resourceType() !== 'document') return route.continue()
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replace('"signUp":true', '"signUp":false') })
  })
  await page.reload()
  await page.getByText('This service sends no mail').waitFor()
  assert.equal(await page.getByLabel('Send a mail').count(), 0)
  await context.close()
}
