/** Tests that nothing in the tables of a store has a forgotten name, apart from its tombstone. */

import assert from 'node:assert/strict'
import { EntryCursor } from '../../../../src/inverse/entries/block.ts'
import { addNames } from '../../../../src/registrations/add-names.ts'
import { SYSTEM_CLOCK } from '../../../../src/server/system-clock.ts'
import { indexOnce } from '../../../../src/similar/index/run-indexer.ts'
import { forgetBelow, forgetName, isAtOrBelow, removeCertificateEvents } from '../../../../src/store/forget.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import type { Certificate } from '../../../../src/values/certificate/certificate.ts'
import type { Day } from '../../../../src/values/time.ts'
import { TESTER } from '../../../tester.ts'
import { placesOf } from '../../contents.ts'
import type { Engine } from '../engine.ts'
import { dns, minute, NOW, NXDOMAIN, name, redirecting, seen, soa, testWithStore, web } from '../world.ts'

/** The label that only the forgotten names have. */
const LABEL = 'dropme'
const GONE = name('dropme.example')
const BELOW = name('shop.dropme.example')
const OTHER = name('other.example')
const TODAY = '2026-11-20' as Day

function certificate(number: number, names: string[]): Certificate {
  return { sha256: `${number}a`.repeat(32), issuer: 'CN=A', not_before: 1, not_after: 2, names, key: 'ec-p256' }
}
const OWN = certificate(1, ['dropme.example', 'www.dropme.example'])
const SHARED = certificate(2, ['other.example', 'host.other.example'])
const LOGGED = certificate(3, ['*.dropme.example', 'aside.example'])

export function forgettingEverything(engine: Engine): void {
  testWithStore(engine, 'after forgetting, the tables have the name in its tombstone alone', async (store, opened) => {
    await fill(store)
    const before = await placesOf(opened.url, LABEL)
    for (const table of ['facts', 'event', 'crawl_request', 'certificate', 'presence', 'redirect', 'page_document'])
      assert.ok(
        before.some((place) => place.startsWith(`${table}.`)),
        `${table} has the name before`,
      )
    assert.equal(await forgetName(store, GONE), true)
    assert.equal(await forgetBelow(store, GONE, new AbortController().signal, () => {}), 1)
    assert.equal(await removeCertificateEvents(store, (host) => isAtOrBelow(host, GONE)), 1)
    await (await store.listing.start({ signal: new AbortController().signal, onStage: () => {} })).close()
    assert.deepEqual(await placesOf(opened.url, LABEL), ['crawl_state.name', 'watch.value'])
    assert.deepEqual(
      (await keysOfBlocks(store)).filter((key) => key.includes(LABEL)),
      [],
    )
    assert.equal((await store.facts.redirects(OTHER, null, 9)).count, 0)
    assert.deepEqual(await store.facts.certificates([OWN.sha256, LOGGED.sha256]), [null, null])
    assert.deepEqual(
      (await store.facts.certificates([SHARED.sha256])).map((each) => each?.certificate.names),
      [SHARED.names],
    )
    assert.deepEqual(
      (await store.events.events((await store.ledger.account('a@example.com'))!.id, 0, 99))
        .map((event) => event.name)
        .filter((each) => each !== null),
      [OTHER],
    )
  })

  testWithStore(engine, 'a host below a forgotten name stays known while records of others name it', async (store) => {
    const host = name('mx.dropme.example')
    const mail = (domain: string) => seen(domain, 1, dns({ MX: [{ priority: 1, mail_server: host }] }))
    await ingest(store, [mail('dropme.example'), mail('other.example')])
    const starting = async () =>
      (await store.inverse.spans({ by: 'hosts', host: 'mx', match: 'starting', types: ['MX'] }, {}, null, 9)).spans
    assert.deepEqual(
      (await starting()).map((span) => span.name),
      [GONE, OTHER],
    )
    await forgetName(store, GONE)
    assert.deepEqual(
      (await starting()).map((span) => span.name),
      [OTHER],
    )
    await forgetName(store, OTHER)
    assert.deepEqual(
      (await keysOfBlocks(store)).filter((key) => key.includes(LABEL)),
      [],
    )
  })
}

/** Every kind of row that has the names. */
async function fill(store: Store): Promise<void> {
  const { ledger, crawlRequests, observations } = store
  const account = (await ledger
    .as(TESTER)
    .createAccount({ email: 'a@example.com', role: 'user', plan: 'premium', periods: [], addons: [] }, NOW))!
  for (const [kind, value] of [
    ['suffix', 'dropme.example'],
    ['name', 'dropme.example'],
    ['name', 'other.example'],
    ['certificate', 'dropme.example'],
  ] as const)
    await ledger.createWatch(9, account.id, { kind, value, threshold: null, types: null }, NOW)
  const mail = {
    MX: [{ priority: 10, mail_server: 'mx.dropme.example' }],
    NS: ['ns.dropme.example'],
    SOA: [soa(1, 7200, 'ns.dropme.example')],
  }
  await ingest(store, [
    seen(GONE, 1, dns({ A: ['192.0.2.1'], TXT: [['text of dropme']], ...mail }), {
      ...web({ has_website: true, text: 'a page' }),
      certificate: OWN,
    }),
    seen(BELOW, 1, dns({ A: ['192.0.2.1'], CNAME: ['dropme.example'] }), redirecting('dropme.example')),
    seen(OTHER, 1, dns({ A: ['192.0.2.1'] }), { ...web({ has_website: true, text: 'a page' }), certificate: SHARED }),
  ])
  await ingest(store, [
    seen(GONE, 2, dns({ A: ['192.0.2.2'] }), { ...redirecting('other.example'), certificate: SHARED }),
    seen(GONE, 3, NXDOMAIN),
    seen(GONE, 4, dns({ A: ['192.0.2.1'], ...mail }), {
      ...web({ has_website: true, text: 'another page' }),
      certificate: OWN,
    }),
  ])
  await indexOnce(
    { store, holder: 'a test', clock: SYSTEM_CLOCK, reporter: { progress: () => {} } },
    new AbortController().signal,
  )
  await addNames(
    [[GONE, BELOW]],
    { insertsUnknown: true, makesDue: true, registered: TODAY },
    { store, signal: new AbortController().signal, onAdded: () => {} },
  )
  await observations.addLogged([
    { certificate: LOGGED, logged_at: minute(1) },
    { certificate: SHARED, logged_at: minute(1) },
  ])
  await crawlRequests.add('followup', [GONE, BELOW])
  await crawlRequests.requestFromLookup({ account: account.id, day: TODAY, name: GONE, maxPerDay: 9 })
}

/** The keys of all entries of the published runs. */
async function keysOfBlocks({ inverseIndex: index }: Store): Promise<string[]> {
  const { slices } = await index.portion(
    (await index.runs()).map(({ number }) => number),
    Buffer.alloc(0),
    1_000,
  )
  const keys: string[] = []
  for (const { blocks } of slices)
    for (const cursor = new EntryCursor(blocks); cursor.next(); )
      keys.push(cursor.key.toString('latin1', 0, cursor.keyLength))
  return keys
}
