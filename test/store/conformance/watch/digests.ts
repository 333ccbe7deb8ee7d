/** Tests of digests: each event is in one mail, whichever process writes it, unless a crash repeats the mail. */

import assert from 'node:assert/strict'
import { nextDigest } from '../../../../src/delivery/digest-schedule.ts'
import { type DigesterOptions, sendDueDigests } from '../../../../src/delivery/sending/digester.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { TESTER } from '../../../tester.ts'
import type { Clock, Engine } from '../engine.ts'
import { dns, NOW, seen, testWithStore } from '../world.ts'

const HOUR = 3_600
const PUBLIC_URL = 'https://domains.test'
const KEY = Buffer.alloc(16, 5)

type Mail = Parameters<DigesterOptions['send']>[0]

/** An account with a watch and an hourly digest, and a process that writes. */
async function makeWorld(store: Store, clock: Clock) {
  const given = { email: 'a@example.com', role: 'user' as const, plan: 'free' as const, periods: [], addons: [] }
  const account = (await store.ledger.as(TESTER).createAccount(given, NOW))!.id
  const rule = { kind: 'pattern', value: 'a.exam*', threshold: null, types: null } as const
  const watch = await store.ledger.createWatch(9, account, rule, NOW)
  assert.ok(typeof watch !== 'string')
  await store.ledger.setDigest(account, { period: 'hourly', key: KEY, seen: 0, due: nextDigest('hourly', NOW) })
  const mails: Mail[] = []
  let minutes = 0
  const send = async (mail: Mail) => mails.push(mail) > 0
  return {
    account,
    watch: watch.id,
    mails,
    write: (answer: DigesterOptions['send'] = send, from = store) =>
      sendDueDigests({ store: from, holder: 'a', send: answer, publicUrl: PUBLIC_URL, onFault: assert.ifError }),
    addEvents: (count: number) =>
      ingest(
        store,
        Array.from({ length: count }, () => seen('a.example', ++minutes, dns({ A: [`192.0.2.${minutes % 250}`] }))),
      ),
    pass: (seconds: number) => {
      clock.now += seconds
    },
  }
}

export function digests(engine: Engine): void {
  testWithStore(
    engine,
    'a digest has the events since the last one, and none is sent without events',
    async (store, _opened, clock) => {
      const { account, watch, mails, write, addEvents, pass } = await makeWorld(store, clock)
      await addEvents(2)
      await write()
      assert.equal(mails.length, 0, 'the hour is not over')
      pass(HOUR)
      await Promise.all([write(), write()])
      assert.equal(mails.length, 1)
      const [{ to, subject, text, headers }] = mails as [Mail]
      assert.deepEqual([to, subject], ['a@example.com', '2 changes of what you watch at domains.test'])
      assert.equal(
        text,
        'pattern a.exam*\n' +
          '  2026-11-20 12:00:00 UTC a.example: new name; A + 192.0.2.1\n' +
          '  2026-11-20 12:00:00 UTC a.example: A + 192.0.2.2, − 192.0.2.1\n\n' +
          'All events: https://domains.test/watches\n',
      )
      assert.deepEqual(headers, {
        'List-Unsubscribe': `<https://domains.test/digest/unsubscribe?key=${KEY.toString('base64url')}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      })
      pass(HOUR)
      await write()
      assert.equal(mails.length, 1)
      const first = { period: 'hourly', sent: NOW + HOUR, due: NOW + 3 * HOUR }
      assert.deepEqual(await store.ledger.digest(account), first)
      await addEvents(102)
      await store.ledger.setDigest(account, {
        period: 'daily',
        key: Buffer.alloc(16),
        seen: 99_999,
        due: NOW + 4 * HOUR,
      })
      pass(2 * HOUR)
      await write()
      assert.equal(mails[1]!.subject, '102 changes of what you watch at domains.test')
      assert.equal(mails[1]!.text.match(/^ {2}/gm)!.length, 100)
      assert.match(mails[1]!.text, /\n\nand 2 more: https:\/\/domains\.test\/watches\n$/)
      assert.deepEqual(mails[1]!.headers, headers, 'the key stays')
      await addEvents(1)
      await store.ledger.muteWatch(account, watch, true, NOW)
      pass(24 * HOUR)
      await write()
      assert.equal(mails.length, 2, 'events of muted watches are left out')
    },
  )

  testWithStore(
    engine,
    'a mail that is not accepted is tried again later, and a crash repeats one at most',
    async (store, opened, clock) => {
      const { mails, write, addEvents, pass } = await makeWorld(store, clock)
      await addEvents(1)
      pass(HOUR)
      let attempts = 0
      const refuse = async () => {
        attempts++
        return false
      }
      for (let minutes = 0; minutes < 15; minutes++) {
        await write(refuse)
        pass(60)
      }
      assert.equal(attempts, 2)
      const dying: Store = {
        ...store,
        ledger: new Proxy(store.ledger, {
          get: (target, key) => (key === 'recordDigest' ? async () => {} : Reflect.get(target, key)),
        }),
      }
      await write(undefined, dying)
      await write(undefined, await opened.another())
      assert.equal(mails.length, 1, 'the claim of the dead process still holds')
      pass(600)
      for (let looks = 0; looks < 3; looks++) await write(undefined, await opened.another())
      assert.equal(mails.length, 2)
      assert.equal(mails[0]!.text, mails[1]!.text)
    },
  )

  testWithStore(
    engine,
    'a digest ends by its account, by its key, or with the account',
    async (store, _opened, clock) => {
      const { account, mails, write, addEvents, pass } = await makeWorld(store, clock)
      assert.equal(await store.ledger.endDigestByKey(Buffer.alloc(16, 9)), false)
      assert.notEqual(await store.ledger.digest(account), null)
      assert.equal(await store.ledger.endDigestByKey(KEY), true)
      assert.equal(await store.ledger.digest(account), null)
      const digest = { period: 'hourly' as const, key: KEY, seen: 0, due: NOW }
      await store.ledger.setDigest(account, digest)
      await store.ledger.endDigest(account)
      assert.equal(await store.ledger.digest(account), null)
      await store.ledger.setDigest(account, digest)
      await addEvents(1)
      await store.ledger.as(TESTER).suspendAccount(account, NOW)
      await write()
      assert.equal(mails.length, 0, 'a suspended account gets no mail')
      await store.ledger.as(TESTER).deleteAccount(account)
      pass(HOUR)
      await write()
      assert.deepEqual([mails.length, await store.ledger.digest(account)], [0, null])
    },
  )
}
