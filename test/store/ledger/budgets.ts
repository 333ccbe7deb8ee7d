/** The daily budget: never exceeded, and no call is rejected while a unit is unused. */

import assert from 'node:assert/strict'
import type { Ledger, QuotaRequest } from '../../../src/store/port/ledger.ts'
import type { Day } from '../../../src/values/time.ts'
import { type LedgerEngine, NOW, on, TODAY, type World } from './engine.ts'
import { CallingProcess } from './quota-limiter.ts'

const ACCOUNT = 7
const ask = (limit: number, want: number, holder = 'one'): QuotaRequest => ({
  account: ACCOUNT,
  day: TODAY,
  limit,
  requested: want,
  holder,
})
const settlement = (spent: number, returned: number, holder = 'one') => {
  return [{ account: ACCOUNT, day: TODAY, holder, spent, returned }]
}

export function budgets(engine: LedgerEngine): void {
  on(
    engine,
    'with up to 1,000 units left, every call takes its unit from the store, spent at once',
    async ({ ledger, take }) => {
      assert.deepEqual(await take(ask(1_000, 64)), { granted: 1, used: 1, leased: 0, retryLater: false })
      assert.deepEqual(await take(ask(1_000, 1)), { granted: 1, used: 2, leased: 0, retryLater: false })
      assert.equal(await ledger.usedUnits(ACCOUNT, TODAY), 2)
    },
  )

  on(engine, 'with more than 1,000 units left, a process may lease up to 1,024 at once', async ({ ledger, take }) => {
    assert.deepEqual(await take(ask(25_000, 5_000)), { granted: 1_024, used: 0, leased: 1_024, retryLater: false })
    assert.deepEqual(await take(ask(25_000, 10)), { granted: 10, used: 0, leased: 1_034, retryLater: false })
    assert.deepEqual(await take(ask(25_000, 1)), { granted: 1, used: 1, leased: 1_034, retryLater: false })
    assert.equal(await ledger.usedUnits(ACCOUNT, TODAY), 1)
  })

  on(
    engine,
    'a process takes at most an eighth of the remaining units, divided among the live processes',
    async ({ ledger }) => {
      for (const holder of ['one', 'two', 'three', 'four']) await ledger.heartbeat(holder, NOW)
      assert.equal((await ledger.takeQuota(ask(1_100, 64))).granted, 34)
      assert.equal((await ledger.takeQuota(ask(1_100, 64, 'two'))).granted, 33)
      assert.equal((await ledger.takeQuota(ask(1_100, 64, 'three'))).granted, 32)
      assert.equal((await ledger.takeQuota(ask(1_100, 64, 'four'))).granted, 31)
    },
  )

  settling(engine)
  dying(engine)
  away(engine)
  returning(engine)

  on(engine, 'every day and every account has its own budget', async ({ ledger }) => {
    await ledger.takeQuota(ask(1, 1))
    assert.equal((await ledger.takeQuota(ask(1, 1))).granted, 0)
    assert.equal((await ledger.takeQuota({ ...ask(1, 1), day: '2026-11-21' as Day })).granted, 1)
    assert.equal((await ledger.takeQuota({ ...ask(1, 1), account: 8 })).granted, 1)
  })

  on(engine, 'a lower limit rejects calls above it', async ({ ledger, take }) => {
    for (let call = 0; call < 3; call++) await ledger.takeQuota(ask(100, 1))
    assert.deepEqual(await take(ask(2, 1)), { granted: 0, used: 3, leased: 0, retryLater: false })
  })

  on(engine, 'exactly the limit is granted to 64 clients over several processes', async ({ ledger, another }) => {
    const handles = [ledger, await another(), await another()]
    const clients = Array.from({ length: 64 }, (_, client) => singles(handles[client % 3]!, `process ${client % 3}`))
    const granted = (await Promise.all(clients)).reduce((sum, each) => sum + each, 0)
    assert.equal(granted, 300)
    assert.equal(await ledger.usedUnits(ACCOUNT, TODAY), 300)
  })

  on(
    engine,
    'exactly the limit is answered by processes that hold units and return them',
    async ({ ledger, another }) => {
      const limit = 1_400
      const limiters = [ledger, await another()].map(
        (each, index) => new CallingProcess(each, { account: ACCOUNT, limit }, `process ${index}`),
      )
      const clients = Array.from({ length: 64 }, (_, client) => answered(limiters, client % 2))
      assert.equal(
        (await Promise.all(clients)).reduce((sum, each) => sum + each, 0),
        limit,
      )
      assert.equal(await ledger.usedUnits(ACCOUNT, TODAY), limit)
    },
  )
}

function settling(engine: LedgerEngine): void {
  on(engine, 'a settled hold is spent or returned', async ({ ledger, take }) => {
    await ledger.takeQuota(ask(25_000, 64))
    await ledger.settleQuota(settlement(10, 0))
    assert.equal(await ledger.usedUnits(ACCOUNT, TODAY), 10)
    await ledger.settleQuota(settlement(4, 50))
    assert.equal(await ledger.usedUnits(ACCOUNT, TODAY), 14)
    assert.deepEqual(await take(ask(14, 1)), { granted: 0, used: 14, leased: 0, retryLater: false })
  })

  on(engine, 'a call while others hold the last units is told to wait, not rejected', async ({ ledger, take }) => {
    await ledger.takeQuota(ask(25_000, 64))
    assert.deepEqual(await take(ask(64, 1, 'two')), { granted: 0, used: 0, leased: 64, retryLater: true })
    await ledger.settleQuota(settlement(63, 1))
    assert.deepEqual(await take(ask(64, 1, 'two')), { granted: 1, used: 64, leased: 0, retryLater: false })
    assert.deepEqual(await take(ask(64, 1, 'two')), { granted: 0, used: 64, leased: 0, retryLater: false })
  })

  on(engine, 'a unit that was spent at once can be returned', async ({ ledger }) => {
    await ledger.takeQuota(ask(1, 1))
    await ledger.refundUnit(ACCOUNT, TODAY)
    await ledger.refundUnit(ACCOUNT, TODAY)
    assert.equal(await ledger.usedUnits(ACCOUNT, TODAY), 0)
    assert.equal((await ledger.takeQuota(ask(1, 1))).granted, 1)
    assert.equal((await ledger.takeQuota(ask(1, 1))).granted, 0)
  })
}

function dying(engine: LedgerEngine): void {
  on(
    engine,
    'the units of a process that was silent for more than 2 seconds are spent',
    async ({ ledger, take, clock }) => {
      await ledger.takeQuota(ask(25_000, 64))
      clock.now += 2
      assert.deepEqual(await take(ask(64, 1, 'two')), { granted: 0, used: 0, leased: 64, retryLater: true })
      clock.now += 1
      assert.deepEqual(await take(ask(64, 1, 'two')), { granted: 0, used: 64, leased: 0, retryLater: false })
    },
  )

  on(engine, 'a settlement larger than the hold settles only the hold', async ({ ledger, take, clock }) => {
    await ledger.takeQuota(ask(25_000, 64))
    clock.now += 2
    await ledger.heartbeat('two', clock.now)
    clock.now += 1
    await ledger.heartbeat('two', clock.now)
    await ledger.takeQuota(ask(25_000, 10))
    await ledger.settleQuota(settlement(70, 24))
    assert.deepEqual(await take(ask(70, 1)), { granted: 0, used: 70, leased: 0, retryLater: false })
  })

  on(engine, 'a heartbeat, a take and a settlement show that a process is alive', async ({ ledger, clock }) => {
    for (const holder of ['one', 'two', 'three']) await ledger.takeQuota(ask(25_000, 10, holder))
    for (let second = 0; second < 9; second++) {
      clock.now += 1
      await ledger.heartbeat('one', clock.now)
      await ledger.settleQuota(settlement(1, 0, 'two'))
      await ledger.takeQuota(ask(25_000, 2, 'three'))
    }
    assert.equal(await ledger.usedUnits(ACCOUNT, TODAY), 9)
    for (const seconds of [2, 1]) {
      clock.now += seconds
      await ledger.heartbeat('four', clock.now)
    }
    assert.equal(await ledger.usedUnits(ACCOUNT, TODAY), 9 + 10 + 1 + 28)
  })

  on(engine, 'a heartbeat returns the number of live processes', async ({ ledger, clock }) => {
    assert.equal(await ledger.heartbeat('one', clock.now), 1)
    assert.equal(await ledger.heartbeat('two', clock.now), 2)
    clock.now += 2
    assert.equal(await ledger.heartbeat('two', clock.now), 2)
    clock.now += 1
    assert.equal(await ledger.heartbeat('two', clock.now), 1)
  })

  on(engine, 'if the clock is set back, no dead process counts as alive', async ({ ledger, clock }) => {
    await ledger.takeQuota(ask(25_000, 64))
    clock.now -= 3_600
    await ledger.heartbeat('two', clock.now)
    clock.now += 2
    assert.equal(await ledger.heartbeat('two', clock.now), 2)
    clock.now += 1
    assert.equal(await ledger.heartbeat('two', clock.now), 1)
    assert.equal(await ledger.usedUnits(ACCOUNT, TODAY), 64)
  })
}

/**
 * Makes the ledger unavailable until no process has a recent heartbeat. A process that returns keeps its units, and a
 * dead one loses them.
 */
function away(engine: LedgerEngine): void {
  on(
    engine,
    'after an outage of the ledger, no process has lost its units',
    async ({ ledger, take, another, clock }) => {
      const handles = { one: ledger, two: await another(), three: await another() }
      for (const [holder, handle] of Object.entries(handles)) await handle.takeQuota(ask(25_000, 20, holder))
      clock.now += 3_600
      for (const [holder, handle] of Object.entries(handles)) {
        await handle.settleQuota(settlement(5, 15, holder))
        clock.now += 1
      }
      assert.deepEqual(await take(ask(15, 1)), { granted: 0, used: 15, leased: 0, retryLater: false })
    },
  )

  on(
    engine,
    'all processes return from an outage at once, and one of them fails',
    async ({ ledger, take, another, clock }) => {
      const handles = [ledger, await another(), await another(), await another()]
      for (const [place, handle] of handles.entries()) await handle.takeQuota(ask(25_000, 20, `${place}`))
      clock.now += 3
      await Promise.all(
        handles.map((handle, place) => handle.settleQuota(settlement(5, place === 0 ? 0 : 15, `${place}`))),
      )
      assert.deepEqual(await take(ask(20, 1, 'new')), {
        granted: 0,
        used: 20,
        leased: 15,
        retryLater: true,
      })
    },
  )

  on(
    engine,
    'a process that died during an outage loses its units 2 seconds after it',
    async ({ ledger, take, clock }) => {
      await ledger.takeQuota(ask(25_000, 64))
      clock.now += 3_600
      for (const seconds of [2, 1]) {
        assert.deepEqual(await take(ask(64, 1, 'two')), { granted: 0, used: 0, leased: 64, retryLater: true })
        clock.now += seconds
      }
      assert.deepEqual(await take(ask(64, 1, 'two')), { granted: 0, used: 64, leased: 0, retryLater: false })
    },
  )

  on(
    engine,
    'if only one process cannot reach the ledger, its units are spent until it returns',
    async ({ ledger, take, clock }) => {
      for (const holder of ['one', 'two']) await ledger.takeQuota(ask(25_000, 64, holder))
      for (let second = 0; second < 3; second++) {
        clock.now += 1
        await ledger.heartbeat('two', clock.now)
      }
      assert.equal(await ledger.usedUnits(ACCOUNT, TODAY), 64)
      await ledger.settleQuota(settlement(60, 4))
      await ledger.settleQuota(settlement(0, 64, 'two'))
      assert.deepEqual(await take(ask(61, 1)), { granted: 1, used: 61, leased: 0, retryLater: false })
      assert.deepEqual(await take(ask(61, 1)), { granted: 0, used: 61, leased: 0, retryLater: false })
    },
  )
}

/** A process is silent for over 2 seconds while another one is not, and returns. */
function returning(engine: LedgerEngine): void {
  const silence = async ({ ledger, clock }: Pick<World, 'ledger' | 'clock'>, seconds = 3): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      clock.now += 1
      await ledger.heartbeat('two', clock.now)
    }
  }

  on(engine, 'a live process that was silent settles the units that it holds', async ({ take, ...world }) => {
    await world.ledger.takeQuota(ask(25_000, 64))
    await silence(world)
    assert.equal(await world.ledger.usedUnits(ACCOUNT, TODAY), 64)
    await world.ledger.settleQuota(settlement(10, 50))
    assert.equal(await world.ledger.usedUnits(ACCOUNT, TODAY), 10)
    assert.deepEqual(await take(ask(14, 1, 'two')), { granted: 0, used: 10, leased: 4, retryLater: true })
  })

  on(
    engine,
    'a settlement, a take and a payment of a process that was silent bring its units back',
    async ({ take, leasedUnits, ...world }) => {
      const { ledger } = world
      const file = { account: ACCOUNT, day: TODAY, limit: 25_000, holder: 'one', file: 'a file' }
      const calls = [
        () => ledger.settleQuota(settlement(0, 0)),
        () => ledger.takeQuota(ask(25_000, 10)),
        () => ledger.payForFile(file),
      ]
      await ledger.takeQuota(ask(25_000, 64))
      for (const call of calls) {
        await silence(world)
        assert.equal(await leasedUnits(ACCOUNT, TODAY), 0)
        await call()
        assert.ok((await leasedUnits(ACCOUNT, TODAY)) >= 64)
      }
      assert.equal(await leasedUnits(ACCOUNT, TODAY), 74)
      assert.equal(await ledger.usedUnits(ACCOUNT, TODAY), 1)
    },
  )

  on(engine, 'units of the day before come back, those of earlier days stay spent', async ({ take, ...world }) => {
    const days = ['2026-11-19', '2026-11-18', '2026-11-17'] as Day[]
    for (const day of days) await world.ledger.takeQuota({ ...ask(25_000, 64), day })
    await silence(world)
    await world.ledger.heartbeat('three', world.clock.now)
    await silence(world)
    await world.ledger.settleQuota(days.flatMap((day) => settlement(0, 64).map((each) => ({ ...each, day }))))
    const used = await Promise.all(days.map((day) => world.ledger.usedUnits(ACCOUNT, day)))
    assert.deepEqual(used, [0, 64, 64])
  })
}

/** Takes single units of 300 until the final rejection, and returns how many. */
async function singles(ledger: Ledger, holder: string): Promise<number> {
  for (let count = 0; ; count++) {
    const { granted, retryLater: wait } = await ledger.takeQuota(ask(300, 1, holder))
    assert.equal(wait, false)
    if (granted === 0) return count
  }
}

/** Makes calls until the final rejection. If told to wait, every process returns its idle units. */
async function answered(limiters: readonly CallingProcess[], mine: number): Promise<number> {
  for (let count = 0; ; ) {
    const outcome = await limiters[mine]!.call(TODAY)
    if (outcome === 'answered') count++
    else if (!outcome.retryLater) return count
    else await Promise.all(limiters.map((limiter) => limiter.settle()))
  }
}
