/** Watches, their events and previews, as the page reads them. */

import type { DifferenceType, WatchKind } from '../../../src/values/watch-kind.ts'
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
/** `used`: as how many watches the plan counts them. */
export type WatchListBody = { watches: Watch[]; used: number; max: number }
/** A watch to create. */
export type NewWatch = { kind: WatchKind; value: string; types?: DifferenceType[]; threshold?: number }

export type PreviewRow = { name: string | null; observed_at: string | null; type: DifferenceType }
export type Preview = { meta: { types: DifferenceType[]; complete: boolean }; result: PreviewRow[] }

type Certificate = { sha256: string; issuer: string; name_count: number }
export type Difference =
  | { type: 'new' }
  | { type: 'status'; before: string | null; after: string }
  | { type: 'records'; record_type: RecordType; added: DnsRecord[]; removed: DnsRecord[] }
  | { type: 'website'; before: object | null; after: Record<string, unknown> }
  | { type: 'redirect'; before: string | null; after: string | null }
  | { type: 'certificate'; logged_at?: string; after: Certificate | null }
  | { type: 'text'; percent: number }
  | { type: 'limit'; events: number }

/** An event. `watch` and `name` null: about the account; `name` null: a certificate that a log published. */
export type WatchEvent = {
  id: number
  time: string
  watch: number | null
  name: string | null
  observed_at: string | null
  differences: Difference[]
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

/** `watches`: the IDs of those whose events it gets; null: all. `waiting`, `dead`: events that are not delivered. */
export type Webhook = {
  id: number
  url: string
  watches: number[] | null
  state: 'active' | 'failing' | 'disabled'
  next_attempt: string | null
  last_success: string | null
  last_error: string | null
  waiting: number
  dead: number
}
export type WebhookList = { webhooks: Webhook[]; max: number }
export type CreatedWebhook = Webhook & { secret: string }
export type WebhookTest = { delivered: boolean; status: number | null; error: string | null; milliseconds: number }

/** An event that is not delivered. `dead`: it is not tried again. */
export type Delivery = {
  event: number
  time: string
  state: 'waiting' | 'dead'
  attempts: number
  last_attempt: string | null
  next_attempt: string | null
  error: string
}
