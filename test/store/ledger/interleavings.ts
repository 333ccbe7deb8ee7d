/** Processes that call, settle, fall silent, return late and die in any order, over days, under a clock that jumps. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { LEASE_TIMEOUT_SECONDS } from '../../../src/accounts/quota-lease-rules.ts'
import type { Ledger } from '../../../src/store/port/ledger.ts'
import { addDays, type Day, dayOf } from '../../../src/values/time.ts'
import { type Clock, type LedgerEngine, on } from './engine.ts'
import type { LeasedUnits } from './leased-units.ts'
import { type Budget, CallingProcess } from './quota-limiter.ts'

const PROCESSES = 4

type Operation =
  | { kind: 'calls'; process: number; count: number; costs: boolean }
  | { kind: 'settle' | 'beat' | 'crash'; process: number }
  | { kind: 'clock'; seconds: number }
  | { kind: 'silence'; process: number; rounds: number }
  | { kind: 'outage'; seconds: number }
  | { kind: 'midnight' }

const process = fc.nat(PROCESSES - 1)

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('calls'),
      process,
      count: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 400 })),
      costs: fc.constant(true),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('calls'),
      process,
      count: fc.integer({ min: 1, max: 9 }),
      costs: fc.constant(false),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('settle', 'beat'), process }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash'), process }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('clock'),
      seconds: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: -5_000, max: 5_000 })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('silence'), process, rounds: fc.constantFrom(1, 3) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('midnight') }) },
)

/** The ledger is unavailable for longer than a process may be silent. */
const outage: fc.Arbitrary<Operation> = fc.record({
  kind: fc.constant('outage'),
  seconds: fc.integer({ min: LEASE_TIMEOUT_SECONDS + 1, max: 5_000 }),
})

const peaceful = fc.oneof(
  { weight: 10, arbitrary: operation.filter(({ kind }) => kind !== 'crash') },
  { weight: 2, arbitrary: outage },
)

type Clocked = { ledger: Ledger; leasedUnits: LeasedUnits; clock: Clock }

/** A property of every ledger, on any engine, whatever its processes do. */
type LedgerProperty = { sentence: string; on: (world: Clocked) => fc.IAsyncPropertyWithHooks<unknown[]> }

/** The number of the last account, because each history has its own. */
let account = 0
const play = (world: Clocked, limit: number, operations: readonly Operation[]) =>
  new Run(world, { account: ++account, limit }).play(operations)
/** Leases are granted while more than 1,000 units remain. */
const limit = fc.oneof(
  { weight: 1, arbitrary: fc.nat(1_200) },
  { weight: 3, arbitrary: fc.integer({ min: 1_060, max: 1_400 }) },
)

export const LEDGER_PROPERTIES: readonly LedgerProperty[] = [
  {
    sentence: 'whatever dies, is silent or returns late, each unit is answered, or idle in a process when it died',
    on: (world) =>
      fc.asyncProperty(limit, fc.array(operation, { maxLength: 25 }), (limit, operations) =>
        play(world, limit, operations),
      ) as fc.IAsyncPropertyWithHooks<unknown[]>,
  },
  {
    sentence: 'while nothing is killed, exactly the limit is answered, whatever the silences and outages',
    on: (world) =>
      fc.asyncProperty(limit, fc.array(peaceful, { maxLength: 15 }), (limit, operations) =>
        play(world, limit, operations),
      ) as fc.IAsyncPropertyWithHooks<unknown[]>,
  },
]

/** `npm run bench:histories` runs thousands. */
export function interleavings(engine: LedgerEngine): void {
  for (const { sentence, on: holds } of LEDGER_PROPERTIES)
    on(engine, sentence, (world) => fc.assert(holds(world), { numRuns: engine.runs }))
}

/** One history of an account. */
class Run {
  readonly #ledger: Ledger
  readonly #leasedUnits: LeasedUnits
  readonly #clock: Clock
  readonly #budget: Budget
  readonly #limiters: CallingProcess[]
  #born = 0
  #today: Day
  /** The calls that cost a unit, and the units that were idle in a process when it died. */
  readonly #days = new Map<Day, { answered: number; lost: number }>()

  constructor({ ledger, leasedUnits, clock }: Clocked, budget: Budget) {
    this.#ledger = ledger
    this.#leasedUnits = leasedUnits
    this.#clock = clock
    this.#budget = budget
    this.#today = addDays(dayOf(clock.now), 1) // no day is over by the clock before the history ends
    this.#begin(this.#today)
    this.#limiters = Array.from({ length: PROCESSES }, () => this.#birth())
  }

  /** Runs the operations, then calls to the end of each day's budget. */
  async play(operations: readonly Operation[]): Promise<void> {
    const { account, limit } = this.#budget
    for (const each of operations) {
      await this.#do(each)
      for (const [day, { answered }] of this.#days) {
        assert.ok((await this.#ledger.usedUnits(account, day)) <= limit)
        assert.ok(answered <= limit, 'more calls are answered than the limit')
      }
    }
    for (const limiter of this.#limiters) await limiter.settle()
    const last = this.#birth()
    await this.#passSeconds(LEASE_TIMEOUT_SECONDS + 1, [last])
    for (const [day, calls] of this.#days) {
      await this.#callToTheEnd(last, day)
      assert.equal(await this.#ledger.usedUnits(account, day), limit)
      assert.equal(calls.answered + calls.lost, limit, 'a unit is lost although its process lives')
    }
  }

  async #callToTheEnd(last: CallingProcess, day: Day): Promise<void> {
    for (let round = 0; !(await this.#calls(last, 64, true, day)); round++) {
      assert.ok(round < this.#budget.limit, 'the budget does not end')
      await last.settle()
    }
  }

  async #do(each: Operation): Promise<void> {
    if (each.kind === 'clock' || each.kind === 'outage') this.#clock.now += each.seconds
    else if (each.kind === 'midnight') this.#begin(addDays(this.#today, 1))
    else {
      const limiter = this.#limiters[each.process]!
      if (each.kind === 'silence') await this.#passSeconds(each.rounds, this.#limiters.toSpliced(each.process, 1))
      else if (each.kind === 'calls') await this.#calls(limiter, each.count, each.costs, this.#today)
      else if (each.kind === 'settle') await limiter.settle()
      else if (each.kind === 'beat') await this.#ledger.heartbeat(limiter.holder, this.#clock.now)
      else this.#kill(each.process)
    }
  }

  #begin(day: Day): void {
    this.#today = day
    this.#days.set(day, { answered: 0, lost: 0 })
  }

  #kill(process: number): void {
    for (const [day, calls] of this.#days) calls.lost += this.#limiters[process]!.idle(day)
    this.#limiters[process] = this.#birth()
  }

  /** Lets seconds pass in which only these processes send heartbeats. */
  async #passSeconds(seconds: number, alive: readonly CallingProcess[]): Promise<void> {
    for (let second = 0; second <= seconds; second++) {
      for (const { holder } of alive) await this.#ledger.heartbeat(holder, this.#clock.now)
      if (second < seconds) this.#clock.now++
    }
  }

  /** Makes concurrent calls. Returns true if one of them was finally rejected. */
  async #calls(limiter: CallingProcess, count: number, costs: boolean, day: Day): Promise<boolean> {
    const outcomes = await Promise.all(Array.from({ length: count }, () => limiter.call(day, costs)))
    const isRefused = outcomes.some((outcome) => outcome !== 'answered')
    const leased = isRefused ? await this.#leasedUnits(this.#budget.account, day) : 0
    let refused = false
    for (const outcome of outcomes) {
      if (outcome === 'answered') this.#days.get(day)!.answered += costs ? 1 : 0
      else {
        assert.ok(outcome.used + leased >= this.#budget.limit, 'refused while a unit is neither spent nor held')
        assert.equal(outcome.retryLater, leased > 0)
        refused ||= !outcome.retryLater
      }
    }
    return refused
  }

  #birth(): CallingProcess {
    return new CallingProcess(this.#ledger, this.#budget, `${this.#budget.account}.${this.#born++}`)
  }
}
