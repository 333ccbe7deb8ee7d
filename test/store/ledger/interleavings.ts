/** Processes that call, settle, send heartbeats and die in any order, under a clock that jumps. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { LEASE_TIMEOUT_SECONDS } from '../../../src/accounts/quota-lease-rules.ts'
import type { Ledger } from '../../../src/store/port/ledger.ts'
import { type Clock, type LedgerEngine, on, TODAY } from './engine.ts'
import type { LeasedUnits } from './leased-units.ts'
import { type Budget, CallingProcess } from './quota-limiter.ts'

const PROCESSES = 4

type Operation =
  | { kind: 'calls'; process: number; count: number; costs: boolean }
  | { kind: 'settle' | 'beat' | 'crash'; process: number }
  | { kind: 'clock'; seconds: number }
  | { kind: 'outage'; seconds: number }

const process = fc.nat(PROCESSES - 1)

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('calls'),
      process,
      count: fc.integer({ min: 1, max: 400 }),
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
)

/** The ledger is unavailable for longer than a process may be silent. */
const outage: fc.Arbitrary<Operation> = fc.record({
  kind: fc.constant('outage'),
  seconds: fc.integer({ min: LEASE_TIMEOUT_SECONDS + 1, max: 5_000 }),
})

const peaceful = fc.oneof(
  { weight: 10, arbitrary: operation.filter(({ kind }) => kind !== 'crash' && kind !== 'clock') },
  { weight: 2, arbitrary: outage },
)

type Clocked = { ledger: Ledger; leasedUnits: LeasedUnits; clock: Clock }

/** A property of every ledger, on any engine, whatever its processes do. */
type LedgerProperty = { sentence: string; on: (world: Clocked) => fc.IAsyncPropertyWithHooks<unknown[]> }

/** The number of the last account, because each history has its own. */
let account = 0
const play = (world: Clocked, limit: number, operations: readonly Operation[]) =>
  new Run(world, { account: ++account, limit }).play(operations)
const limit = fc.integer({ min: 0, max: 1_200 })

export const LEDGER_PROPERTIES: readonly LedgerProperty[] = [
  {
    sentence: 'whatever is killed and however the clock jumps, no call above the limit is answered',
    on: (world) =>
      fc.asyncProperty(limit, fc.array(operation, { maxLength: 25 }), async (limit, operations) => {
        assert.ok((await play(world, limit, operations)) <= limit)
      }) as fc.IAsyncPropertyWithHooks<unknown[]>,
  },
  {
    sentence: 'while nothing is killed, exactly the limit is answered, whatever the outages',
    on: (world) =>
      fc.asyncProperty(limit, fc.array(peaceful, { maxLength: 15 }), async (limit, operations) => {
        assert.equal(await play(world, limit, operations), limit)
      }) as fc.IAsyncPropertyWithHooks<unknown[]>,
  },
]

/** `npm run bench:histories` runs thousands. */
export function interleavings(engine: LedgerEngine): void {
  for (const { sentence, on: holds } of LEDGER_PROPERTIES)
    on(engine, sentence, (world) => fc.assert(holds(world), { numRuns: engine.runs }))
}

/** One history of an account's day. */
class Run {
  readonly #ledger: Ledger
  readonly #leasedUnits: LeasedUnits
  readonly #clock: Clock
  readonly #budget: Budget
  readonly #limiters: CallingProcess[]
  #born = 0
  #answered = 0

  constructor({ ledger, leasedUnits, clock }: Clocked, budget: Budget) {
    this.#ledger = ledger
    this.#leasedUnits = leasedUnits
    this.#clock = clock
    this.#budget = budget
    this.#limiters = Array.from({ length: PROCESSES }, () => this.#birth())
  }

  /** Runs the operations, then calls to the end of the budget. Returns how many answered calls cost a unit. */
  async play(operations: readonly Operation[]): Promise<number> {
    for (const each of operations) {
      await this.#do(each)
      assert.ok((await this.#ledger.usedUnits(this.#budget.account, TODAY)) <= this.#budget.limit)
    }
    for (const limiter of this.#limiters) await limiter.settle()
    const last = this.#birth()
    for (const seconds of [0, LEASE_TIMEOUT_SECONDS, 1]) {
      this.#clock.now += seconds
      await this.#ledger.heartbeat(last.holder, this.#clock.now)
    }
    for (let round = 0; !(await this.#calls(last, 64, true)); round++) {
      assert.ok(round < this.#budget.limit, 'the budget does not end')
      await last.settle()
    }
    assert.equal(await this.#ledger.usedUnits(this.#budget.account, TODAY), this.#budget.limit)
    return this.#answered
  }

  async #do(each: Operation): Promise<void> {
    if (each.kind === 'clock' || each.kind === 'outage') this.#clock.now += each.seconds
    else if (each.kind === 'calls') await this.#calls(this.#limiters[each.process]!, each.count, each.costs)
    else if (each.kind === 'settle') await this.#limiters[each.process]!.settle()
    else if (each.kind === 'beat') await this.#ledger.heartbeat(this.#limiters[each.process]!.holder, this.#clock.now)
    else this.#limiters[each.process] = this.#birth()
  }

  /** Makes concurrent calls. Returns true if one of them was finally rejected. */
  async #calls(limiter: CallingProcess, count: number, costs: boolean): Promise<boolean> {
    const outcomes = await Promise.all(Array.from({ length: count }, () => limiter.call(costs)))
    const isRefused = outcomes.some((outcome) => outcome !== 'answered')
    const leased = isRefused ? await this.#leasedUnits(this.#budget.account, TODAY) : 0
    let refused = false
    for (const outcome of outcomes) {
      if (outcome === 'answered') this.#answered += costs ? 1 : 0
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
