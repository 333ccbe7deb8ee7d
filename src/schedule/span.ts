/** A span of a crawl: all that it has in hand while it trusts its eyes and its store, and is given up as a whole where it does not. */

import type { Observation } from '../observe/observation.ts'
import { LEASE_SECONDS, type Lease } from '../store/schedule.ts'
import type { Address } from '../words/address.ts'
import type { Name } from '../words/name.ts'
import type { Instant } from '../words/time.ts'
import { type Bell, makeBell } from './bell.ts'
import type { Crawl } from './crawl.ts'
import type { End, Pause } from './figures.ts'
import type { Memory } from './memory.ts'
import { type Candidate, type Held, isDone, sweepOf } from './range.ts'
import { Room } from './room.ts'
import { turnsBy } from './turns.ts'

/** Why a span is given up. `rest`: milliseconds until another one is tried, at least. */
export class Trouble extends Error {
  readonly reason: Pause['reason']
  readonly rest: number

  constructor(reason: Pause['reason'], why: string, rest = 0) {
    super(why)
    this.reason = reason
    this.rest = rest
  }
}

/**
 * A visit that is over. `observation` is null where there is nothing to be written; `again`: it is visited again soon; `held`:
 * the address where it had no turn in time, or null.
 */
export type Seen = {
  candidate: Candidate
  at: Instant
  observation: Observation | null
  end: End
  again: boolean
  held: Address | null
}

const LEASE_MILLISECONDS = LEASE_SECONDS * 1000
/** Milliseconds for which a wanted name rests that has no turn. */
export const REST = 60_000

export class Span {
  readonly crawl: Crawl
  readonly memory: Memory
  readonly held = new Map<number, Held>()
  readonly names = new Map<Name, Candidate>()
  readonly room: Room
  /** Visits begun, and names that found no turn at their place, since names were read last. */
  readonly tide = { begun: 0, left: 0 }
  /** Begun and not over, by this span. */
  flying = 0
  seen: Seen[] = []
  /** When the oldest of `seen` came, and when eyes were last found good, in milliseconds. */
  oldest = 0
  trusted: number
  /** Rung when a visit may begin; when names are wanted; when visits are over. */
  readonly turn: Bell
  readonly need: Bell
  readonly over: Bell
  readonly errand: Bell
  readonly keep: Bell
  isEnding = false
  isFinished = false
  trouble: Trouble | null = null

  constructor(crawl: Crawl, memory: Memory) {
    this.crawl = crawl
    this.memory = memory
    this.trusted = crawl.clock.ticks()
    const { pace, clock, shares } = crawl
    this.room = new Room({
      pace,
      turns: turnsBy(shares),
      onLeft: (candidate) => this.#crowdOut(candidate),
      onLow: () => this.need.ring(),
    })
    this.turn = makeBell(clock)
    this.need = makeBell(clock)
    this.over = makeBell(clock)
    this.errand = makeBell(clock)
    this.keep = makeBell(clock)
  }

  /** Begins nothing more. With a trouble nothing that was seen is kept. */
  end(trouble: Trouble | null): void {
    if (trouble !== null && this.trouble === null) {
      this.trouble = trouble
      this.crawl.figures.paused(trouble.reason, trouble.message, this.crawl.clock.ticks())
      if (this.seen.length > 0) this.crawl.figures.slices.thrown++
    }
    this.isEnding = true
    for (const bell of [this.turn, this.need, this.over, this.errand]) bell.ring()
  }

  /** Every range was given back. */
  finish(): void {
    this.isFinished = true
    this.keep.ring()
  }

  /** Leases ranges; without `ranges` those whose sweep is due. */
  async lease(most: number, ranges?: readonly number[]): Promise<Held[]> {
    const { store, holder, clock } = this.crawl
    const until = clock.ticks() + LEASE_MILLISECONDS
    const leases = await store.schedule.lease(holder, most, ranges)
    return leases.map((lease) => {
      const held: Held = { lease, until, open: new Set(), sweep: null, isBusy: true }
      this.held.set(lease.range, held)
      return held
    })
  }

  /** Prolongs all leases; what belongs to one that is lost is thrown away. */
  async renew(): Promise<void> {
    const all = [...this.held.values()]
    if (all.length === 0) return
    const until = this.crawl.clock.ticks() + LEASE_MILLISECONDS
    const stand = await this.crawl.store.schedule.renew(all.map(({ lease }) => lease))
    const fences = new Map(stand.map(({ range, fence }) => [range, fence]))
    for (const held of all) {
      if (fences.get(held.lease.range) === held.lease.fence) held.until = until
      else this.lose(held)
    }
  }

  lose(held: Held): void {
    if (this.held.get(held.lease.range) === held) this.held.delete(held.lease.range)
    for (const candidate of [...held.open]) this.settle(candidate)
  }

  /** Gives back the ranges in which nothing is left to be done; with `all`, every one. */
  async release(all = false): Promise<void> {
    const { store, times } = this.crawl
    const isOver = (held: Held): boolean => all || (!held.isBusy && isDone(held))
    if (![...this.held.values()].some(isOver)) return
    const now = await store.now()
    const done = [...this.held.values()].filter(isOver) // names may have come in meanwhile; from here on none does
    for (const { lease } of done) this.held.delete(lease.range)
    await store.schedule.release(
      done.map((held) => ({ lease: held.lease, sweep: isDone(held) ? sweepOf(held, now, times.sweeps) : null })),
    )
  }

  leases(): Lease[] {
    return [...this.held.values()].map(({ lease }) => lease)
  }

  admit(candidate: Candidate): void {
    this.names.set(candidate.name, candidate)
    candidate.range.open.add(candidate)
    this.room.add(candidate)
  }

  /** True while nobody has taken it away. */
  has(candidate: Candidate): boolean {
    return this.names.get(candidate.name) === candidate
  }

  #crowdOut(candidate: Candidate): void {
    this.tide.left++
    this.leave(candidate)
    if (candidate.wishes.size > 0) this.rest(candidate.name, REST)
  }

  /** A wanted name is passed over for a while. */
  rest(name: Name, milliseconds: number): void {
    this.memory.resting.use(name, this.crawl.clock.ticks() + milliseconds)
  }

  /** It goes back to its slot. */
  leave(candidate: Candidate): void {
    if (candidate.range.sweep !== null) candidate.range.sweep.isLeft = true
    this.settle(candidate)
  }

  /** It is in hand no more. */
  settle(candidate: Candidate): void {
    if (this.has(candidate)) this.names.delete(candidate.name)
    candidate.range.open.delete(candidate)
    this.room.remove(candidate)
  }
}
