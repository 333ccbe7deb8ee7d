/** The text of a digest: the events of an account since the last one, by watch. Pure. */

import type { StoredEvent } from '../store/port/watch/events.ts'
import type { OwnWatch } from '../store/port/watch/watches.ts'
import { type DescribedDifference, differenceText } from '../values/difference-text.ts'
import type { AnyRecord, RecordType } from '../values/records/dns-record.ts'
import { formatPresentation } from '../values/records/presentation.ts'
import { formatInstant } from '../values/time.ts'

/** Events of a mail that have a line. */
export const MAX_LISTED = 100

/** Whether further events exist that were not counted. */
export type DigestEvents = { events: readonly StoredEvent[]; hasMore: boolean }

/** `page`: the address of the web page. */
export function digestText({ events, hasMore }: DigestEvents, watches: readonly OwnWatch[], page: string): string {
  const listed = events.slice(0, MAX_LISTED)
  const groups = Map.groupBy(listed, ({ watch }) => watch)
  const sections = [...groups].map(([id, ofWatch]) => {
    const watch = watches.find((each) => each.id === id)
    const heading = watch === undefined ? 'Your account' : `${watch.kind} ${watch.value}`
    return `${heading}\n${ofWatch.map((event) => `  ${eventLine(event)}\n`).join('')}`
  })
  const rest = events.length - listed.length
  const more = hasMore ? `and more than ${rest} more` : `and ${rest} more`
  const end = `${rest > 0 ? `${more}:` : 'All events:'} ${page}/watches\n`
  return [...sections, end].join('\n')
}

/** The subject of a mail. */
export function digestSubject({ events, hasMore }: DigestEvents, page: string): string {
  const count = hasMore
    ? `More than ${events.length} changes`
    : events.length === 1
      ? '1 change'
      : `${events.length} changes`
  return `${count} of what you watch at ${new URL(page).host}`
}

function eventLine({ time, name, differences }: StoredEvent): string {
  return `${formatInstant(time).replace('T', ' ')} UTC ${name ?? ''}${name === null ? '' : ': '}${summaryOf(differences)}`
}

/** The differences of an event as a line of text. `differences`: JSON. */
export function summaryOf(differences: string): string {
  const parsed = JSON.parse(differences) as DescribedDifference<RecordType, AnyRecord>[]
  return parsed.map((each) => differenceText(each, formatPresentation)).join('; ')
}
