/** A world whose server also has the web page and sends mail, as an installation has them. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { buildPageBundle } from '../../src/api/page/bundle.ts'
import { WebPage } from '../../src/api/page/page.ts'
import type { Store } from '../../src/store/port/store.ts'
import { createWorldApi } from '../api/world-api.ts'
import { openMailbox } from '../app/mailbox.ts'
import { makeWorld } from '../spec/world.ts'

export const SITE = 'https://domains.test'
export const BROWSER_ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

/**
 * `get` sends a request as a browser does when its user opens an address. `change`: what the server has for a store.
 */
export async function pageServer(
  change: (store: Store) => Pick<Store, 'facts' | 'inverse' | 'events' | 'ledger'> = (store) => store,
) {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-page-'))
  after(() => rmSync(folder, { recursive: true }))
  const bundle = join(folder, 'web')
  await buildPageBundle(bundle)
  const mailbox = await openMailbox()
  after(mailbox.close)
  const world = await makeWorld()
  const { app } = await createWorldApi(world, {
    store: change(world.store),
    mail: { smtp: mailbox.url, from: 'service@domains.test', publicUrl: SITE },
    page: new WebPage(bundle),
  })
  after(() => app.close())
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(address + path, { method, headers: { Accept: BROWSER_ACCEPT, ...headers } })
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(address + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return { world, mailbox, address, get, post }
}
