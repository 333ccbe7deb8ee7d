/** The text of a digest: the events of an account since the last one, by watch. Pure. */

import type { StoredEvent } from '../store/port/watch/events.ts'
import type { OwnWatch } from '../store/port/watch/watches.ts'
import { formatInstant } from '../values/time.ts'
import type { Difference } from '../watch/difference.ts'

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

/** The differences of an event in a few words. `differences`: JSON. */
export function summaryOf(differences: string): string {
  return (JSON.parse(differences) as (Difference | { type: 'limit'; events: number })[]).map(summaryOfOne).join('; ')
}

function summaryOfOne(difference: Difference | { type: 'limit'; events: number }): string {
  switch (difference.type) {
    case 'new':
      return 'new name'
    case 'status':
      return difference.after === 'nxdomain' ? 'the name no longer exists' : 'the name exists'
    case 'records':
      return `${difference.record_type}: ${difference.added.length} added, ${difference.removed.length} removed`
    case 'website':
      return `website: ${Object.entries(difference.after)
        .map(([key, value]) => `${key} ${value === true ? 'yes' : value === false ? 'no' : value}`)
        .join(', ')}`
    case 'redirect':
      return difference.after === null ? 'no redirect' : `redirects to ${difference.after}`
    case 'certificate':
      return certificateSummary(difference)
    case 'text':
      return `${difference.percent} % of the words of the start page changed`
    case 'limit':
      return `more than ${difference.events} events today: further ones are left out`
  }
}

function certificateSummary(difference: Extract<Difference, { type: 'certificate' }>): string {
  const { after } = difference
  if (after === null) return 'no certificate'
  const names = `${after.names.slice(0, 3).join(', ')}${after.name_count > 3 ? ' and others' : ''}`
  return `${'logged_at' in difference ? 'certificate in a log' : 'certificate'} for ${names}`
}
