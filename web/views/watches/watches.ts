/** Watches, their events and previews, as the page reads them. */

import type { DescribedDifference } from '../../../src/values/difference-text.ts'
import { type DifferenceType, KIND_PROPERTIES, type WatchKind } from '../../../src/values/watch-kind.ts'
import type { DnsRecord, RecordType } from '../explorer/data/responses.ts'

export type Watch = {
  id: number
  kind: WatchKind
  value: string
  threshold: number | null
  types: DifferenceType[] | null
  created: string
  muted: string | null
}
/** `used`: how many watches of the plan they use. */
export type WatchListBody = { watches: Watch[]; used: number; max: number }
/** A watch to create. */
export type NewWatch = { kind: WatchKind; value: string; types?: DifferenceType[]; threshold?: number }

export type PreviewRow = { name: string | null; observed_at: string | null; type: DifferenceType }
export type Preview = { meta: { types: DifferenceType[]; complete: boolean }; result: PreviewRow[] }

/** An event. `watch` and `name` null: about the account; `name` null: a certificate that a log published. */
export type WatchEvent = {
  id: number
  time: string
  watch: number | null
  name: string | null
  observed_at: string | null
  differences: DescribedDifference<RecordType, DnsRecord>[]
}
export type EventPage = { meta: { next: number }; result: WatchEvent[] }

/** What each type of a difference is called. */
export const TYPE_TEXTS: Readonly<Record<DifferenceType, string>> = {
  new: 'new name',
  status: 'appears or disappears',
  records: 'DNS records',
  website: 'website',
  redirect: 'redirect',
  certificate: 'certificate',
  text: 'text of the start page',
}

/** The address of the page with the form filled in. */
export function watchAddress(kind: WatchKind, value: string): string {
  return `/watches?${new URLSearchParams({ kind, value })}`
}

/** A watch as a line of text: two watches may have the same value. */
export function watchText({ kind, value }: Pick<Watch, 'kind' | 'value'>): string {
  return `${value} (${KIND_PROPERTIES[kind].subject})`
}
