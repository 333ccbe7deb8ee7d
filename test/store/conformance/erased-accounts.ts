/** Tests that nothing in the tables of a store identifies a deleted account. */

import assert from 'node:assert/strict'
import { webActor } from '../../../src/accounts/audit.ts'
import { newTokenRecord } from '../../../src/accounts/token.ts'
import { removeEventsOfDeletedAccounts } from '../../../src/store/deleted-accounts.ts'
import type { Store } from '../../../src/store/port/store.ts'
import type { Day } from '../../../src/values/time.ts'
import { TESTER } from '../../tester.ts'
import { placesOf } from '../contents.ts'
import type { Engine } from './engine.ts'
import { dns, ingestAll, NOW, name, seen, testWithStore } from './world.ts'

const TODAY = '2026-11-20' as Day
const ANN = 'ann.smith@example.com'
/** The address contains that of the other account. */
const BOB = 'bann.smith@example.com'
const hash = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const [TOKEN, SESSION, LINK, FEED, DIGEST, SEALED] = [201, 202, 203, 204, 205, 206].map(hash)
/** What identifies the account in any table. */
const TRACES = [
  ...['ann.smith@example.com', 'laptop-of-ann', 'Annfox', '198.51.100.77', 'hook.example', 'phc-of-ann'],
  ...[TOKEN!, SESSION!, LINK!, FEED!, DIGEST!, SEALED!],
]

export function erasedAccounts(engine: Engine): void {
  for (const isErased of [true, false])
    testWithStore(
      engine,
      `nothing identifies an account that is ${isErased ? 'erased' : 'deleted'}, and others keep what they have`,
      async (store, { url }) => {
        const ann = await fill(store)
        const before = await placesOf(url, ...TRACES)
        for (const table of ['account', 'attempt', 'audit', 'digest', 'feed', 'idempotent_answer', 'one_time_link'])
          assert.ok(
            before.some((place) => place.startsWith(`${table}.`)),
            `${table} identifies it before`,
          )
        const others = await countsOf(store)
        assert.equal((await store.events.events(ann, 0, 9)).length, 1)
        await store.ledger.as(TESTER).deleteAccount(ann, isErased)
        assert.equal(await removeEventsOfDeletedAccounts(store), 1)
        assert.equal(await removeEventsOfDeletedAccounts(store), 0)
        assert.deepEqual(await placesOf(url, ...TRACES.filter((text) => text !== ANN)), [])
        assert.deepEqual(await placesOf(url, /(^|[^b])ann\.smith@example\.com/), [])
        assert.equal(await store.ledger.account(ANN), null)
        assert.deepEqual(await countsOf(store), others)
        assert.equal((await store.ledger.usage(ann, null, null)).length, isErased ? 0 : 1)
      },
    )
}

/** What the other account has. */
async function countsOf({ ledger, events }: Store): Promise<unknown[]> {
  const { id } = (await ledger.account(BOB))!
  const rows = await Promise.all([ledger.tokens(id), ledger.watches(id), events.events(id, 0, 9)])
  const attempts = await ledger.attempts([`sign-in ${BOB}`, 'sign-in 192.0.2.1'], NOW)
  const answer = await ledger.claimAnswer(9, { holder: 'shop', key: 'bob' }, hash(2), NOW)
  return [rows.map(({ length }) => length), attempts, answer]
}

/** Two accounts with everything that an account can have. Returns the number of ANN. */
async function fill(store: Store): Promise<number> {
  const { ledger } = store
  for (const [index, email] of [ANN, BOB].entries()) {
    const account = { email, role: 'user', plan: 'premium', periods: [], addons: [] } as const
    const { id } = (await ledger.as(TESTER).createAccount(account, NOW))!
    const own = index === 0
    const record = {
      ...newTokenRecord('dxt_0' as Parameters<typeof newTokenRecord>[0], own ? 'laptop-of-ann' : 'b', null),
    }
    const token = await ledger.as(webActor(email)).createToken(id, { ...record, hash: own ? TOKEN! : hash(1) }, NOW)
    await ledger.recordUsage([
      { account: id, token: token.id, endpoint: 'lookup', day: TODAY, calls: 2, lastCall: NOW },
    ])
    await ledger.createWatch(9, id, { kind: 'name', value: 'watched.example', threshold: null, types: null }, NOW)
    for (const key of [`sign-in ${email}`, `mail password ${email}`, `sign-in ${email} 192.0.2.1`, 'sign-in 192.0.2.1'])
      await ledger.countAttempt([{ key, seconds: 900 }], NOW)
    const key = { holder: 'shop', key: own ? 'ann' : 'bob' }
    await ledger.claimAnswer(9, key, hash(2), NOW)
    await ledger.storeAnswer(key, { status: 201, body: JSON.stringify({ id, email }) })
    if (own) await fillOwn(store, id)
  }
  await ingestAll(store, [seen('watched.example', 1, dns({ A: ['192.0.2.1'] }))])
  return (await ledger.account(ANN))!.id
}

async function fillOwn({ ledger, crawlRequests }: Store, account: number): Promise<void> {
  await ledger.as(TESTER).setPassword(account, 'phc-of-ann', null, NOW)
  await ledger.createSession({ account, hash: SESSION!, browser: 'Annfox', address: '198.51.100.77' }, NOW)
  await ledger.createLink({ hash: LINK!, kind: 'password', account, email: null, expires: NOW + 60 }, NOW)
  await ledger.createLink({ hash: hash(3), kind: 'sign-up', account: null, email: ANN, expires: NOW + 60 }, NOW)
  await ledger.replaceFeed(account, FEED!, NOW)
  await ledger.setDigest(account, { period: 'daily', due: NOW + 60, key: DIGEST!, seen: 0 })
  const key = { number: 1, bytes: SEALED! }
  await ledger.createWebhook(9, account, { url: 'https://hook.example/', watches: null, key, seen: 0 }, NOW)
  await crawlRequests.requestFromLookup({ account, day: TODAY, name: name('asked.example'), maxPerDay: 9 })
  await ledger.payForFile({ account, day: TODAY, limit: 99, holder: 'a test', file: '2026-11-19.txt.gz' })
}
