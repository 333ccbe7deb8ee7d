/** The arithmetic of a day's budget: no unit is charged twice, and none is lost. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type BudgetUnits,
  chargeFile,
  grantUnits,
  type QuotaGrant,
  refundUnit,
  restoreUnits,
  settleUnits,
} from '../../src/accounts/budget-arithmetic.ts'

const units = (used: number, leased: number, ownLease = 0): BudgetUnits => ({ used, leased, ownLease })

test('given up to 1,000 remaining units, a grant spends one unit at once', () => {
  assert.deepEqual(grantUnits(units(24_000, 0), { limit: 25_000, requested: 64 }, 1), {
    grant: { granted: 1, used: 24_001, retryLater: false },
    units: units(24_001, 0),
  })
})

test('given more than 1,000 remaining units, a grant adds to the lease of the caller and spends nothing', () => {
  assert.deepEqual(grantUnits(units(7, 30, 10), { limit: 25_000, requested: 64 }, 1), {
    grant: { granted: 64, used: 7, retryLater: false },
    units: units(7, 94, 74),
  })
  assert.deepEqual(grantUnits(units(7, 30, 10), { limit: 25_000, requested: 1 }, 1).units, units(8, 30, 10))
})

test('without remaining units the caller retries if units are leased, and is rejected otherwise', () => {
  for (const before of [units(9, 1, 0), units(5, 20, 20), units(0, 10, 3)])
    assert.deepEqual(grantUnits(before, { limit: 10, requested: 64 }, 1), {
      grant: { granted: 0, used: before.used, retryLater: true },
      units: before,
    })
  for (const before of [units(10, 0), units(11, 0)])
    assert.deepEqual(grantUnits(before, { limit: 10, requested: 64 }, 1), {
      grant: { granted: 0, used: before.used, retryLater: false },
      units: before,
    })
})

test('a settlement spends, returns or keeps the units of its own lease, and never touches others', () => {
  const before = units(3, 90, 64)
  assert.deepEqual(settleUnits(before, { spent: 10, returned: 0 }), units(13, 80, 54))
  assert.deepEqual(settleUnits(before, { spent: 0, returned: 64 }), units(3, 26, 0))
  assert.deepEqual(settleUnits(before, { spent: 60, returned: 50 }), units(63, 26, 0))
  assert.deepEqual(settleUnits(before, { spent: 70, returned: 0 }), units(67, 26, 0))
  assert.deepEqual(settleUnits(units(3, 26, 0), { spent: 60, returned: 4 }), units(3, 26, 0))
})

test('a refund returns one spent unit, and nothing if none is spent', () => {
  assert.deepEqual(refundUnit(units(2, 9, 4)), units(1, 9, 4))
  assert.deepEqual(refundUnit(units(0, 9, 4)), units(0, 9, 4))
})

test('restored units move from the spent ones to the own lease, so their sum stays', () => {
  assert.deepEqual(restoreUnits(units(70, 9, 4), 64), units(6, 73, 68))
})

test('a file costs one unit if it is not paid for and a unit remains', () => {
  assert.deepEqual(chargeFile(units(0, 64, 64), 25_000, false), {
    payment: { outcome: 'charged', used: 1 },
    units: units(1, 64, 64),
  })
  const outcomes = [
    { before: units(100, 0), isPaid: true, outcome: 'already_paid' },
    { before: units(100, 0), isPaid: false, outcome: 'limit_reached' },
    { before: units(60, 40), isPaid: false, outcome: 'retry_later' },
  ]
  for (const { before, isPaid, outcome } of outcomes)
    assert.deepEqual(chargeFile(before, 100, isPaid), { payment: { outcome, used: before.used }, units: before })
})

const HOLDERS = ['a', 'b', 'c'] as const
type Holder = (typeof HOLDERS)[number]
type Call =
  | { kind: 'take'; holder: Holder; requested: number; live: number }
  | { kind: 'settle'; holder: Holder; spent: number; returned: number }
  | { kind: 'pay'; holder: Holder; file: number }
  | { kind: 'refund' }

const holder = fc.constantFrom(...HOLDERS)
const call: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('take'),
      holder,
      requested: fc.integer({ min: 1, max: 64 }),
      live: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle'), holder, spent: fc.nat(70), returned: fc.nat(70) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pay'), holder, file: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refund') }) },
)

/** A budget that records where each granted unit is: the sums of granted, settled and refunded units. */
class Books {
  readonly limit: number
  readonly leases: Record<Holder, number>
  readonly paid = new Set<number>()
  used = 0
  spentAtOnce = 0
  spentFromLeases = 0
  refunded = 0

  constructor(leases: Record<Holder, number>, unleased: number) {
    this.leases = { ...leases }
    this.limit = this.#leased() + unleased
  }

  play(each: Call): void {
    if (each.kind === 'take') this.take(each.holder, each.requested, each.live)
    else if (each.kind === 'settle') this.#settle(each)
    else if (each.kind === 'pay') this.#pay(each)
    else {
      this.refunded += Math.min(1, this.used)
      this.#store('a', refundUnit(this.unitsOf('a')))
    }
  }

  take(who: Holder, requested: number, live: number): QuotaGrant {
    const before = this.unitsOf(who)
    const { grant, units: after } = grantUnits(before, { limit: this.limit, requested }, live)
    this.#store(who, after)
    assert.equal(grant.granted, after.used + after.leased - before.used - before.leased, 'granted and not stored')
    assert.equal(grant.granted === 0, before.used + before.leased >= this.limit, 'refused while a unit remains')
    assert.equal(grant.retryLater, grant.granted === 0 && before.leased > 0)
    assert.equal(grant.used, after.used)
    if (grant.granted === 1) this.spentAtOnce++
    return grant
  }

  unitsOf(who: Holder): BudgetUnits {
    return { used: this.used, leased: this.#leased(), ownLease: this.leases[who] }
  }

  /** Each spent unit was spent by a call, and no unit of the budget is lost. */
  check(): void {
    assert.equal(this.used, this.spentAtOnce + this.spentFromLeases - this.refunded)
    assert.ok(this.used >= 0 && this.used + this.#leased() <= this.limit)
    assert.ok(Object.values(this.leases).every((lease) => lease >= 0))
  }

  #settle({ holder: who, spent, returned }: Call & { kind: 'settle' }): void {
    const before = this.unitsOf(who)
    const after = settleUnits(before, { spent, returned })
    this.spentFromLeases += Math.min(spent, before.ownLease)
    assert.equal(before.ownLease - after.ownLease, Math.min(before.ownLease, spent + returned))
    this.#store(who, after)
  }

  #pay({ holder: who, file }: Call & { kind: 'pay' }): void {
    const isPaid = this.paid.has(file)
    const before = this.unitsOf(who)
    const { payment, units: after } = chargeFile(before, this.limit, isPaid)
    assert.equal(payment.outcome === 'already_paid', isPaid)
    if (payment.outcome === 'retry_later') assert.ok(before.leased > 0)
    if (payment.outcome === 'limit_reached') assert.equal(before.leased, 0)
    assert.equal(payment.used, after.used)
    assert.equal(after.used - before.used, payment.outcome === 'charged' ? 1 : 0)
    if (payment.outcome === 'charged') {
      this.paid.add(file)
      this.spentAtOnce++
    }
    this.#store(who, after)
  }

  #leased(): number {
    return Object.values(this.leases).reduce((sum, lease) => sum + lease, 0)
  }

  #store(who: Holder, after: BudgetUnits): void {
    this.used = after.used
    this.leases[who] = after.ownLease
    assert.equal(after.leased, this.#leased(), 'the sum of the leases')
  }
}

const lease = fc.nat(64)
const leases: fc.Arbitrary<Record<Holder, number>> = fc.record({ a: lease, b: lease, c: lease })
const unleased = fc.oneof(fc.nat(20), fc.nat(1_300))

test('whatever holders call, each unit is charged once, and all remaining units are finally granted', () => {
  const property = fc.property(leases, unleased, fc.array(call, { maxLength: 40 }), (initial, rest, calls) => {
    const books = new Books(initial, rest)
    for (const each of calls) {
      books.play(each)
      books.check()
    }
    for (const who of HOLDERS) books.play({ kind: 'settle', holder: who, spent: 0, returned: books.leases[who] })
    for (let left = books.limit - books.used; left > 0; left--) assert.equal(books.take('a', 1, 1).granted, 1)
    assert.equal(books.unitsOf('a').leased, 0)
    assert.deepEqual(books.take('a', 1, 1), { granted: 0, used: books.limit, retryLater: false })
  })
  fc.assert(property, { numRuns: 1_000 })
})
