/** Crawl requests: names to be probed soon, limited per account and day. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type DomainName, slotRangeOf } from '../../../src/values/domain-name.ts'
import type { Day } from '../../../src/values/time.ts'
import { TESTER } from '../../tester.ts'
import { type LedgerEngine, made, on, TODAY } from './engine.ts'

const YESTERDAY = '2026-11-19' as Day
const NAMES = Array.from({ length: 60 }, (_, n) => `n${n}.example` as DomainName)
const A = NAMES[0]!
const B = NAMES[1]!

export function crawlRequests(engine: LedgerEngine): void {
  on(engine, 'of all concurrent requests of processes, an account gets exactly the daily limit', async (world) => {
    const { ledger, another } = world
    const processes = [ledger, await another(), await another()]
    const { id } = await made(ledger)
    const asks = NAMES.flatMap((name) =>
      processes.map(async (process) => ({
        name,
        taken: await process.requestFromLookup({ account: id, day: TODAY, name, maxPerDay: 20 }),
      })),
    )
    const asked = new Set((await Promise.all(asks)).filter(({ taken }) => taken).map(({ name }) => name))
    assert.equal(asked.size, 20)
    assert.equal(await ledger.count('lookup'), 20)
    const lists = await Promise.all(
      (await ledger.ranges('lookup')).map((range) => ledger.inRange('lookup', range, 100)),
    )
    assert.deepEqual(new Set(lists.flat()), asked)
  })

  on(engine, 'a name that is already requested costs nothing, and a rejected name is not requested', async (world) => {
    const { ledger } = world
    const one = await made(ledger)
    const other = await made(ledger, { email: 'bob@example.com' })
    const ask = (account: number, name: DomainName, most: number, day = TODAY) =>
      ledger.requestFromLookup({ account, day, name, maxPerDay: most })
    assert.equal(await ask(one.id, A, 1), true)
    assert.equal(await ask(one.id, B, 1), false)
    assert.equal(await ask(one.id, A, 1), true)
    assert.equal(await ask(other.id, A, 0), true, 'wanted by somebody else')
    assert.equal(await ask(other.id, B, 0), false)
    assert.equal(await ledger.count('lookup'), 1)
    await ledger.add('followup', [B])
    assert.equal(await ask(one.id, B, 1), false, 'the other kind is another wish')
    await ledger.complete('lookup', [A])
    assert.equal(await ask(one.id, A, 1), false, 'what was asked for stays counted')
  })

  on(engine, 'another day has its own count, and a late process counts for its own day', async (world) => {
    const { ledger } = world
    const { id } = await made(ledger)
    const ask = (day: Day, name: DomainName) => ledger.requestFromLookup({ account: id, day, name, maxPerDay: 2 })
    const taken = []
    for (const [place, day] of [YESTERDAY, TODAY, YESTERDAY, YESTERDAY, TODAY, TODAY].entries())
      taken.push(await ask(day, NAMES[place]!))
    assert.deepEqual(taken, [true, true, true, false, true, false])
  })

  on(engine, 'an account that does not exist requests nothing', async ({ ledger }) => {
    const { id } = await made(ledger)
    assert.equal(await ledger.requestFromLookup({ account: id, day: TODAY, name: A, maxPerDay: 5 }), true)
    await ledger.as(TESTER).deleteAccount(id)
    assert.equal(await ledger.requestFromLookup({ account: id, day: TODAY, name: B, maxPerDay: 5 }), false)
    assert.deepEqual(await ledger.inRange('lookup', slotRangeOf(A), 5), [A], 'what it asked for stays wanted')
    assert.equal(await ledger.count('lookup'), 1)
  })

  on(engine, 'requested names are listed by range in byte order, until they are fulfilled', async ({ ledger }) => {
    const some = fc.uniqueArray(fc.domain(), { maxLength: 30 })
    const property = fc.asyncProperty(some, some, fc.integer({ min: 1, max: 3 }), async (requested, done, limit) => {
      await ledger.add('followup', [...requested, ...requested.slice(0, 3)] as DomainName[])
      await ledger.add('followup', requested.slice(0, 2) as DomainName[])
      await ledger.complete('followup', [...done, ...requested.slice(0, 1)] as DomainName[])
      const left = (requested.slice(1) as DomainName[]).filter((name) => !done.includes(name)).sort()
      const ranges = [...new Set(left.map(slotRangeOf))].sort((a, b) => a - b)
      assert.deepEqual(await ledger.ranges('followup'), ranges)
      assert.equal(await ledger.count('followup'), left.length)
      for (const range of ranges) {
        const there = left.filter((name) => slotRangeOf(name) === range)
        assert.deepEqual(await ledger.inRange('followup', range, limit), there.slice(0, limit))
      }
      await ledger.complete('followup', left)
      assert.deepEqual(await ledger.ranges('followup'), [])
    })
    await fc.assert(property, { numRuns: engine.runs })
    assert.deepEqual(await ledger.ranges('lookup'), [])
  })

  on(engine, 'processes that request and fulfil the same names at once do not block each other', async (world) => {
    const processes = await Promise.all(Array.from({ length: 4 }, world.another))
    for (let round = 0; round < 5; round++) {
      const operations = processes.flatMap((process, place) => {
        const names = place % 2 === 0 ? NAMES : NAMES.toReversed()
        return [process.add('followup', names), process.complete('followup', names)]
      })
      await Promise.all(operations)
    }
    await world.ledger.add('followup', NAMES)
    assert.equal(await world.ledger.count('followup'), NAMES.length)
  })
}
