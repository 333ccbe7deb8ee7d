/** The events' part of the port: the changes that watches matched, for the API. */

import type { DomainName } from '../../../values/domain-name.ts'
import { type Instant, SECONDS_PER_DAY } from '../../../values/time.ts'

/** Seconds for which events are stored. */
export const EVENT_SECONDS = 30 * SECONDS_PER_DAY

/** Old events that a transaction with events deletes at most, besides as many as it adds. */
export const MAX_DELETED_EVENTS = 100

/**
 * An event. `time`: when it was written. `watch`: null for an event about the account. `differences`: a JSON array. The
 * other fields: as of a WatchEvent.
 */
export type StoredEvent = {
  number: number
  watch: number | null
  name: DomainName | null
  time: Instant
  observed_at: Instant | null
  differences: string
}

/** For commands that remove events before they are old, in slices of some thousands. */
export interface EventRemover {
  /** The events of all accounts about certificates that logs published, with numbers above `after`, by number. */
  certificateEvents(after: number, limit: number): Promise<Pick<StoredEvent, 'number' | 'differences'>[]>
  /** Removes events by their numbers. */
  removeEvents(numbers: readonly number[]): Promise<void>
  /** Removes at most `limit` events of an account. Returns how many; with fewer than `limit`, nothing is left of it. */
  removeEventsOfAccount(account: number, limit: number): Promise<number>
}

export interface EventReader {
  /**
   * The events of an account with higher numbers than `after`, by number, at most `limit`. Events become visible in the
   * order of their numbers, so a reader that continues after the last one that it read misses none.
   */
  events(account: number, after: number, limit: number): Promise<StoredEvent[]>
  /** The events of an account with lower numbers than `before` (null: the newest), newest first, at most `limit`. */
  eventsBefore(account: number, before: number | null, limit: number): Promise<StoredEvent[]>
  /** The accounts that have events with numbers above `after`, up to `last`. */
  accountsWithEvents(after: number, last: number): Promise<number[]>
  /** The number of the newest event of any account; 0 if there is none. */
  lastEvent(): Promise<number>
  /** The highest number that an event may ever have got: at least that of the newest one, also if it was removed. */
  highestNumber(): Promise<number>
}
