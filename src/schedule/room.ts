/** The waiting room: a bounded number of names whose turn is to come, by kind, and those that wait for their turn at a place. */

import type { Pace } from '../crawl/pace.ts'
import type { Name } from '../words/name.ts'
import type { Candidate } from './range.ts'
import { KINDS, type Kind, type NextTurn } from './turns.ts'

/** Names of a kind that wait, at most. */
export const PLACES = 1_000
/** Names that have a turn at their place within so many milliseconds wait for it; the others go back to their slots. */
export const PATIENCE = 20_000
const TIMED = 2_000
/** Where fewer names of a kind wait, more are read from slots. */
export const LOW = 250

export type RoomOptions = {
  pace: Pick<Pace, 'wait' | 'take' | 'restOf'>
  turns: NextTurn
  /** Told of a name whose turn at its place does not come soon. */
  onLeft: (candidate: Candidate) => void
  /** Told when fewer than LOW names of a kind wait, each time that it comes to that. */
  onLow: (kind: Kind) => void
}

export class Room {
  readonly #options: RoomOptions
  readonly #names = new Map<Name, Candidate>()
  /** In the order they came. */
  readonly #waiting = Object.fromEntries(KINDS.map((kind) => [kind, new Set()])) as Record<Kind, Set<Candidate>>
  /** Those whose turn at their place has come. */
  readonly #ready = Object.fromEntries(KINDS.map((kind) => [kind, new Set()])) as Record<Kind, Set<Candidate>>
  /** By the time of their turn, ascending. */
  readonly #timed: { at: number; candidate: Candidate }[] = []

  readonly #low = new Set<Kind>(KINDS)

  constructor(options: RoomOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#names.size
  }

  get(name: Name): Candidate | undefined {
    return this.#names.get(name)
  }

  /** How many more names of a kind may come. */
  free(kind: Kind): number {
    return PLACES - this.#waiting[kind].size
  }

  waiting(kind: Kind): number {
    return this.#waiting[kind].size + this.#ready[kind].size
  }

  add(candidate: Candidate): void {
    this.#names.set(candidate.name, candidate)
    this.#waiting[candidate.kind].add(candidate)
    this.#tellLow()
  }

  remove(candidate: Candidate): void {
    if (this.#names.get(candidate.name) !== candidate) return
    this.#names.delete(candidate.name)
    this.#waiting[candidate.kind].delete(candidate)
    this.#ready[candidate.kind].delete(candidate)
    this.#tellLow()
  }

  /** It waits as one of another kind from now on. */
  promote(candidate: Candidate, kind: Kind): void {
    for (const places of [this.#waiting, this.#ready]) {
      if (places[candidate.kind].delete(candidate)) places[kind].add(candidate)
    }
    candidate.kind = kind
    this.#tellLow()
  }

  /** The next one to begin, which is then in the room no more and has its turn at its place; null where none may begin now. */
  take(now: number): Candidate | null {
    this.#wake(now)
    const first = new Map<Kind, Candidate>()
    for (const kind of KINDS) {
      const candidate = this.#first(kind, now)
      if (candidate !== null) first.set(kind, candidate)
    }
    this.#tellLow()
    const kind = this.#options.turns([...first.keys()])
    if (kind === null) return null
    const candidate = first.get(kind)!
    if (this.#waiting[kind].has(candidate)) this.#options.pace.take(candidate.places)
    this.remove(candidate)
    return candidate
  }

  #tellLow(): void {
    for (const kind of KINDS) {
      if (this.waiting(kind) >= LOW) this.#low.delete(kind)
      else if (!this.#low.has(kind)) {
        this.#low.add(kind)
        this.#options.onLow(kind)
      }
    }
  }

  /** When the next turn at a place comes, of those that somebody waits for. */
  nextTurn(): number {
    return this.#timed[0]?.at ?? Number.POSITIVE_INFINITY
  }

  /** Those that were removed meanwhile are dropped. */
  #wake(now: number): void {
    let come = 0
    while (come < this.#timed.length && this.#timed[come]!.at <= now) come++
    for (const { candidate } of this.#timed.splice(0, come)) {
      if (this.#names.get(candidate.name) === candidate) this.#ready[candidate.kind].add(candidate)
    }
  }

  #first(kind: Kind, now: number): Candidate | null {
    for (const candidate of this.#ready[kind]) {
      if (this.#options.pace.restOf(candidate.places) <= 0) return candidate
      this.#ready[kind].delete(candidate) // it came to rest since the turn was taken
      this.#waiting[kind].add(candidate)
    }
    for (const candidate of this.#waiting[kind]) {
      const wait = this.#options.pace.wait(candidate.places)
      if (wait <= 0) return candidate
      this.#waiting[kind].delete(candidate)
      if (wait <= PATIENCE && this.#timed.length < TIMED) this.#time(candidate, now)
      else {
        this.#names.delete(candidate.name)
        this.#options.onLeft(candidate)
      }
    }
    return null
  }

  #time(candidate: Candidate, now: number): void {
    const at = now + this.#options.pace.take(candidate.places)
    const place = this.#timed.findLastIndex((timed) => timed.at <= at) + 1
    this.#timed.splice(place, 0, { at, candidate })
  }
}
