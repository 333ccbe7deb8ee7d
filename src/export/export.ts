/** Exports what the store knows about all names, in the order of the names. */

import { setImmediate } from 'node:timers/promises'
import { writeObservation } from '../observe/observation-writer.ts'
import type { NameListing } from '../store/port/listing.ts'
import type { Store } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'
import { RECORD_TYPES } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import { cofLines } from './cof.ts'
import { type NameHistory, readNameHistories } from './name-history.ts'
import { historyObservations } from './observations.ts'

export const LINE_FORMATS = ['observations', 'cof'] as const
export type LineFormat = (typeof LINE_FORMATS)[number]

/** The lines of a name. `startedAt`: when the export started. */
const LINES_OF: Readonly<Record<LineFormat, (history: NameHistory, startedAt: Instant) => string[]>> = {
  observations: (history, startedAt) => historyObservations(history, startedAt).map(writeObservation),
  cof: ({ name, timelines }) => RECORD_TYPES.flatMap((type) => cofLines(name, type, timelines[type])),
}

/** Names that are read at once. */
const NAMES_PER_READ = 200

/**
 * Yields the histories of all names that are known at the start of the listing, some at a time. Each read is short, so
 * that an export of any length blocks no other process. `onUnread` receives names that could not be read, because they
 * were written during every try. Aborting `signal` stops it with the reason.
 */
export async function* nameHistories(
  store: Pick<Store, 'observations' | 'facts'>,
  listing: NameListing,
  signal: AbortSignal,
  onUnread: (names: readonly DomainName[]) => void,
): AsyncGenerator<NameHistory[]> {
  for await (const { text } of listing.names()) {
    const names = Buffer.from(text).toString('latin1').trimEnd().split('\n') as DomainName[]
    for (let at = 0; at < names.length; at += NAMES_PER_READ) {
      await setImmediate() // a signal and the renewal of the lock need the event loop, for which SQLite never waits
      signal.throwIfAborted()
      const { histories, unread } = await readNameHistories(store, names.slice(at, at + NAMES_PER_READ))
      if (unread.length > 0) onUnread(unread)
      yield histories
    }
  }
}

/** The lines of a name in a format. `startedAt`: when the export started. */
export function linesOfName(format: LineFormat, history: NameHistory, startedAt: Instant): string[] {
  return LINES_OF[format](history, startedAt)
}
