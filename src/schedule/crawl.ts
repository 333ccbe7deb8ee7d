/** What a crawl is made of: everything that its loop is given. */

import type { Rhythm } from '../apply/due.ts'
import type { Pace } from '../crawl/pace.ts'
import type { Visit } from '../crawl/visit.ts'
import type { Store } from '../store/store.ts'
import type { Address } from '../words/address.ts'
import type { Name } from '../words/name.ts'
import type { Clock } from './bell.ts'
import type { Figures } from './figures.ts'
import type { SweepTimes } from './range.ts'
import type { Shares } from './turns.ts'

/** What the control questions came to; `why` is a sentence. */
export type Sight = { sees: true } | { sees: false; why: string }

/** Looks and beats, in milliseconds; sweeps in seconds. */
export type Times = {
  /** Between two looks for wishes, and for ranges where none was due. */
  look: number
  /** Between two beats. */
  beat: number
  /** What a visit brought waits for so long for others to be trusted and saved with, and control questions are asked as often. */
  slice: number
  sweeps: SweepTimes
}

export const TIMES: Times = { look: 2_000, beat: 15_000, slice: 30_000, sweeps: { least: 0, most: 60 } }

export type Crawl = {
  store: Pick<Store, 'frontier' | 'schedule' | 'wishes' | 'now'>
  /** Who this crawler is: no other one has the same. */
  holder: string
  /** `turns`: addresses where it has its turn already. */
  visit(name: Name, turns?: readonly Address[]): Promise<Visit>
  pace: Pace
  /** Whether the owner of a name wants no visits; asked each time. */
  optOut: { hasName(name: Name): boolean }
  /** Whether an address is the operator's own, where nobody has to wait. */
  isOwn(address: Address): boolean
  /** Why the disk of the store has too little room, a sentence; null if it has enough. */
  lack?(): Promise<string | null>
  /** Asks the control questions. */
  look(): Promise<Sight>
  rhythm: Rhythm
  shares: Shares
  /** Visits a second of all crawlers of the installation; null for as many as may be. */
  rate: number | null
  /** Visits in flight at once, at most. */
  parallel: number
  times: Times
  clock: Clock
  /** From 0 to below 1. */
  random(): number
  figures: Figures
  /** A fault of the program or of the store; the crawl goes on. */
  onFault(error: unknown): void
  /** What an operator is to be told. */
  say(news: string): void
}
