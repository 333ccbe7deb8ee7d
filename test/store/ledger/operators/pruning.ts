/** Pruning of the ledger: old rows go in slices, and what is in force stays. */

import assert from 'node:assert/strict'
import { LEDGER_KINDS, type LedgerKind } from '../../../../src/store/port/retention.ts'
import { addDays, SECONDS_PER_DAY } from '../../../../src/values/time.ts'
import { TESTER } from '../../../tester.ts'
import { type LedgerAndCrawlRequests, type LedgerEngine, made, NOW, on, TODAY } from '../engine.ts'

/** Prunes one kind, and returns the number of removed rows and of slices. */
async function pruned(ledger: LedgerAndCrawlRequests, kind: LedgerKind, before: number, now: number) {
  let removed = 0
  for (let next: number | null = 0, slices = 1; ; slices++) {
    const slice: Awaited<ReturnType<LedgerAndCrawlRequests['prune']>> = await ledger.prune(kind, before, next, now)
    removed += slice.removed
    next = slice.next
    if (next === null) return { removed, slices }
  }
}

const ALL = { email: null, from: null, to: null }

export function pruning(engine: LedgerEngine): void {
  on(engine, 'usage before a day goes, also that of deleted accounts, in slices', async ({ ledger }) => {
    const { id } = await made(ledger)
    const gone = await made(ledger, { email: 'bob@example.com' })
    const days = Array.from({ length: 600 }, (_, back) => addDays(TODAY, -back))
    const note = { token: 1, endpoint: 'lookup', calls: 1, lastCall: NOW }
    await ledger.recordUsage(days.map((day) => ({ account: id, day, ...note })))
    await ledger.recordUsage(days.slice(0, 20).map((day) => ({ account: gone.id, day, ...note })))
    await ledger.as(TESTER).deleteAccount(gone.id)
    const before = NOW - 9 * SECONDS_PER_DAY
    const expected = 590 + 10
    assert.equal(await ledger.prunableRows('usage', before, NOW), expected)
    const { removed, slices } = await pruned(ledger, 'usage', before, NOW)
    assert.equal(removed, expected)
    assert.ok(slices > 1)
    for (const account of [id, gone.id])
      assert.deepEqual(
        (await ledger.usage(account, null, null)).map(({ day }) => day),
        days.slice(0, 10).reverse(),
      )
    assert.equal(await ledger.prunableRows('usage', before, NOW), 0)
  })

  on(engine, 'entries of the audit log before a time go', async ({ ledger, clock }) => {
    await made(ledger)
    clock.now += 100
    const before = clock.now
    await made(ledger, { email: 'bob@example.com' })
    const all = await ledger.audit(ALL, 0, 10)
    const old = all.filter(({ time }) => time < before)
    assert.ok(old.length > 0)
    assert.equal(await ledger.prunableRows('audit', before, NOW), old.length)
    assert.deepEqual(await pruned(ledger, 'audit', before, clock.now), { removed: old.length, slices: 1 })
    assert.deepEqual(await ledger.audit(ALL, 0, 10), all.slice(old.length))
  })

  on(engine, 'what has ended goes, and what is in force stays', async ({ ledger, take }) => {
    const { id } = await made(ledger)
    const session = { account: id, browser: '', address: '' }
    const hash = (byte: number) => new Uint8Array(32).fill(byte)
    const later = NOW + 20 * SECONDS_PER_DAY // a session that was not used for 14 days has ended
    await ledger.createSession({ ...session, hash: hash(1) }, NOW)
    const stays = await ledger.createSession({ ...session, hash: hash(2) }, NOW)
    await ledger.touchSession(stays.id, later - 1)
    for (const [byte, expires] of [
      [1, NOW + 10],
      [2, later + 10],
    ] as const)
      await ledger.createLink({ hash: hash(byte), kind: 'password', account: id, email: null, expires }, NOW)
    await ledger.countAttempt([{ key: 'short', seconds: 10 }], NOW)
    await ledger.countAttempt([{ key: 'long', seconds: later }], NOW)
    await ledger.claimAnswer(9, { holder: 'o', key: 'k' }, hash(1), NOW)
    await ledger.payForFile({ account: id, day: TODAY, limit: 9, holder: 'h', file: 'f' })
    await take({ account: id, day: TODAY, limit: 9, requested: 1, holder: 'h' })
    assert.equal(await ledger.prunableRows('expired', 0, NOW + 1), 0)
    assert.equal((await pruned(ledger, 'expired', 0, NOW + 1)).removed, 0)
    assert.equal(await ledger.usedUnits(id, TODAY), 2)
    const expected = 6 // a session, a link, a count, an answer, a budget and a paid file
    assert.equal(await ledger.prunableRows('expired', 0, later), expected)
    assert.equal((await pruned(ledger, 'expired', 0, later)).removed, expected)
    assert.deepEqual(await ledger.sessions(id), [{ ...stays, last_used: later - 1 }])
    assert.notEqual(await ledger.takeLink(hash(2), 'password', later), null)
    assert.deepEqual(await ledger.attempts(['short', 'long'], later), [0, 1])
    assert.equal(await ledger.usedUnits(id, TODAY), 0)
  })

  on(engine, 'an empty ledger has nothing to prune', async ({ ledger }) => {
    for (const kind of LEDGER_KINDS)
      assert.deepEqual(await ledger.prune(kind, NOW, 0, NOW), { removed: 0, next: null }, kind)
  })
}
