/** The quota limiter: one exact budget over all processes. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_PLAN_LIMITS } from '../../../src/accounts/plan.ts'
import { makeToken, newTokenRecord } from '../../../src/accounts/token.ts'
import type { Caller } from '../../../src/api/auth/authenticator.ts'
import { ApiError } from '../../../src/api/http/errors.ts'
import { QuotaLimiter } from '../../../src/api/quota/quota-limiter.ts'
import { openStore } from '../../../src/store/open.ts'
import { StoreUnavailableFault, UncertainWriteFault } from '../../../src/store/port/fault.ts'
import type { Ledger } from '../../../src/store/port/ledger.ts'
import { dayOf, parseInstant } from '../../../src/values/time.ts'
import { TESTER } from '../../tester.ts'

const NOON = parseInstant('2026-11-20T12:00:00Z')!

/** A ledger with one account, and quota limiters as different processes have them. */
async function world(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-meter-'))
  const url = `sqlite:${join(folder, 'a.db')}`
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now: () => NOON })
  const token = makeToken(new Uint8Array(20))
  const wanted = { email: 'a@example.com', role: 'user', plan: 'free', periods: [], addons: [] } as const
  const account = (await store.ledger.as(TESTER).createAccount(wanted, NOON, newTokenRecord(token, 'test', null)))!
  const limiters: QuotaLimiter[] = []
  t.after(async () => {
    await Promise.all(limiters.map((limiter) => limiter.close()))
    await store.close()
    await rm(folder, { recursive: true })
  })
  const faults: unknown[] = []
  return {
    ledger: store.ledger,
    faults,
    caller: (queries: number, now = NOON): Caller => {
      return { account, token: 1, limits: { ...DEFAULT_PLAN_LIMITS.free, dailyCalls: queries }, now, today: dayOf(now) }
    },
    limiter: (ledger: Ledger = store.ledger): QuotaLimiter => {
      const holder = `process ${limiters.length}`
      limiters.push(new QuotaLimiter({ ledger, holder, onFault: (fault) => faults.push(fault) }))
      return limiters.at(-1)!
    },
  }
}

/** Makes one call and returns its outcome. */
async function call(limiter: QuotaLimiter, caller: Caller, counts: boolean): Promise<'counted' | 'free' | 'refused'> {
  try {
    const permit = await limiter.reserve(caller)
    if (counts) permit.charge('lookup')
    else await permit.release()
    return counts ? 'counted' : 'free'
  } catch (thrown) {
    assert.ok(thrown instanceof ApiError && thrown.key === 'rate_limited', `${thrown}`)
    return 'refused'
  }
}

test('exactly the limit is answered over several processes, with free calls in between', async (t) => {
  const limit = 1_100 // the first hundred are leased in batches, the others singly
  const { ledger, caller, limiter, faults } = await world(t)
  const limiters = [limiter(), limiter(), limiter()]
  const anyCall = fc.record({ process: fc.nat(2), counts: fc.integer({ min: 0, max: 9 }).map((n) => n > 0) })
  const calls = fc.sample(anyCall, 1_600)
  let counted = 0
  while (calls.length > 0) {
    const outcomes = calls.splice(0, 64).map(({ process, counts }) => call(limiters[process]!, caller(limit), counts))
    counted += (await Promise.all(outcomes)).filter((outcome) => outcome === 'counted').length
  }
  assert.equal(counted, limit)
  await Promise.all(limiters.map((each) => each.settle()))
  assert.equal(await ledger.usedUnits(caller(limit).account.id, caller(limit).today), limit)
  assert.deepEqual(faults, [])
})

test('the unit of a call that costs nothing is free for any process before its response is sent', async (t) => {
  const { caller, limiter } = await world(t)
  const [a, b] = [limiter(), limiter()]
  assert.equal(await call(a, caller(1), false), 'free')
  assert.equal(await call(b, caller(1), true), 'counted')
  assert.equal(await call(a, caller(1), true), 'refused')
})

test('429 is given only if the store itself has nothing left: units that another process holds are waited for', async (t) => {
  const { caller, limiter } = await world(t)
  const [a, b] = [limiter(), limiter()]
  const open = await a.reserve(caller(1_040)) // a lease of 64, one of them in flight
  for (let done = 0; done < 976; done++) assert.equal(await call(b, caller(1_040), true), 'counted')
  const late = Promise.all(Array.from({ length: 64 }, () => call(b, caller(1_040), true)))
  await a.settle()
  await a.settle() // idle units are returned
  await open.release()
  await a.settle()
  assert.deepEqual(
    await late,
    Array.from({ length: 64 }, () => 'counted'),
  )
  assert.equal(await call(b, caller(1_040), true), 'refused')
})

test('429: limit, used, and the seconds to the next UTC midnight', async (t) => {
  const { caller, limiter } = await world(t)
  const only = limiter()
  await call(only, caller(1), true)
  await assert.rejects(
    async () => only.reserve(caller(1)),
    (refusal: ApiError) => {
      assert.deepEqual([refusal.status, refusal.extra, refusal.retryAfter], [429, { limit: 1, used: 1 }, 43_200])
      return true
    },
  )
})

test('the budget is that of a UTC day: units of yesterday do not count today', async (t) => {
  const { ledger, caller, limiter } = await world(t)
  const only = limiter()
  assert.equal(await call(only, caller(2_000), true), 'counted')
  assert.equal(await call(only, caller(1, NOON + 43_200), true), 'counted')
  assert.equal(await call(only, caller(1, NOON + 43_200), true), 'refused')
  await only.close()
  const { account, today } = caller(0)
  assert.deepEqual(
    [await ledger.usedUnits(account.id, today), await ledger.usedUnits(account.id, dayOf(NOON + 43_200))],
    [1, 1],
  )
})

test('a batch that goes on after midnight leaves the lease of the new day alone', async (t) => {
  const { ledger, caller } = await world(t)
  const requestedOn: string[] = []
  const counting: Ledger = {
    ...ledger,
    takeQuota(request) {
      requestedOn.push(request.day)
      return ledger.takeQuota(request)
    },
  }
  const timers = { every: () => () => {}, wait: async () => {} }
  const only = new QuotaLimiter({ ledger: counting, holder: 'process', onFault: assert.ifError, timers })
  const [before, after] = [caller(25_000), caller(25_000, NOON + 43_200)]
  const takeBack = only.expectCalls(before, 60)
  for (let line = 0; line < 60; line++) {
    assert.equal(await call(only, line < 20 ? before : after, true), 'counted')
    takeBack(1)
  }
  assert.deepEqual(requestedOn, [before.today, after.today])
  await only.close()
  const unitsOn = ({ account, today }: Caller) => ledger.usedUnits(account.id, today)
  assert.deepEqual([await unitsOn(before), await unitsOn(after)], [20, 40])
})

test('spent units are recorded by token, endpoint and day', async (t) => {
  const { ledger, caller, limiter } = await world(t)
  const only = limiter()
  for (const endpoint of ['lookup', 'redirect', 'lookup']) (await only.reserve(caller(2_000))).charge(endpoint)
  await (await only.reserve(caller(2_000))).release()
  await only.settle()
  const { account, token, today: day } = caller(0)
  assert.deepEqual(await ledger.usage(account.id, day, null), [
    { day, endpoint: 'lookup', token, calls: 2 },
    { day, endpoint: 'redirect', token, calls: 1 },
  ])
})

test('a ledger that fails for a while loses no unit and no record', async (t) => {
  const { ledger, caller, limiter, faults } = await world(t)
  let isBroken = false
  const broken: Ledger = {
    ...ledger,
    settleQuota: async (settlements) => {
      if (isBroken) throw new Error('the disk is full')
      await ledger.settleQuota(settlements)
    },
    recordUsage: async (notes) => {
      if (isBroken) throw new Error('the disk is full')
      await ledger.recordUsage(notes)
    },
  }
  const only = limiter(broken)
  ;(await only.reserve(caller(2_000))).charge('lookup')
  isBroken = true
  await only.settle()
  isBroken = false
  await only.close()
  assert.equal(faults.length, 2)
  const { account, token, today } = caller(0)
  assert.deepEqual(await ledger.usage(account.id, today, today), [{ day: today, endpoint: 'lookup', token, calls: 1 }])
  assert.equal(await ledger.usedUnits(account.id, today), 1)
  assert.deepEqual(
    await ledger.takeQuota({ account: account.id, day: today, limit: 3, requested: 1, holder: 'other' }),
    {
      granted: 1,
      used: 2,
      retryLater: false,
    },
  )
})

test('an unavailable ledger is asked once for all waiting calls, not once for each', async (t) => {
  const { ledger, caller, limiter } = await world(t)
  const asked: ((fault: Error) => void)[] = []
  const away = { ...ledger, takeQuota: () => new Promise<never>((_, reject) => asked.push(reject)) }
  const waits = limiter(away)
  const calls = Array.from({ length: 5 }, () => waits.reserve(caller(25_000)))
  const outcomes = Promise.allSettled(calls)
  while (asked.length === 0) await new Promise(setImmediate)
  asked[0]!(new StoreUnavailableFault('away'))
  assert.deepEqual(new Set((await outcomes).map(({ status }) => status)), new Set(['rejected']))
  assert.equal(asked.length, 1)
})

test('a unit that the ledger does not accept is returned later, and nothing waits for that', async (t) => {
  const { ledger, caller, limiter, faults } = await world(t)
  let isAway = true
  const away = () => Promise.reject(new StoreUnavailableFault('away'))
  const giveBack: Ledger['refundUnit'] = (account, day) => (isAway ? away() : ledger.refundUnit(account, day))
  const single = limiter({ ...ledger, refundUnit: giveBack })
  const limit = 5
  const permit = await single.reserve(caller(limit))
  await permit.release()
  assert.equal(await ledger.usedUnits(caller(limit).account.id, caller(limit).today), 1)
  await single.settle()
  isAway = false
  await single.settle()
  assert.equal(await ledger.usedUnits(caller(limit).account.id, caller(limit).today), 0)
  assert.ok(faults.length > 0 && faults.every((fault) => fault instanceof StoreUnavailableFault))
})

test('a quota limiter that closes returns the units that are still on their way to it', async (t) => {
  const { ledger, caller, limiter } = await world(t)
  const [first, later] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const gates = [first, later]
  const slow: Ledger = {
    ...ledger,
    takeQuota: async (ask) => {
      await gates.shift()?.promise
      return ledger.takeQuota(ask)
    },
  }
  const only = limiter(slow)
  first.resolve()
  const someone = caller(2_000)
  for (let count = 0; count < 50; count++) (await only.reserve(someone)).charge('lookup')
  assert.equal(gates.length, 0) // it requested units in advance
  const closed = only.close()
  later.resolve()
  await closed
  const { account, today } = someone
  const ask = { account: account.id, day: today, limit: 51, requested: 1, holder: 'other' }
  assert.deepEqual(await ledger.takeQuota(ask), { granted: 1, used: 51, retryLater: false })
})

test('units that may have been returned are not used again', async (t) => {
  const { ledger, caller, limiter } = await world(t)
  let isDoubtful = false
  const doubtful: Ledger = {
    ...ledger,
    async settleQuota(settlements) {
      await ledger.settleQuota(settlements)
      if (isDoubtful) throw new UncertainWriteFault('the server is out of reach')
    },
  }
  const only = limiter(doubtful)
  const someone = caller(1_200)
  for (let count = 0; count < 3; count++) (await only.reserve(someone)).charge('lookup')
  await only.settle()
  isDoubtful = true
  await only.settle() // idle units are returned, and the acknowledgement is lost
  isDoubtful = false
  let answered = 3
  while ((await call(only, someone, true)) === 'counted') answered++
  assert.equal(answered, 1_200)
})
