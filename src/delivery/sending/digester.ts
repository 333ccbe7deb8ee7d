/** Writes due digests. A mail is recorded after the SMTP server has accepted it, so a crash can repeat one. */

import type { LockClock } from '../../store/named-lock.ts'
import type { Store } from '../../store/port/store.ts'
import type { ClaimedDigest, DigestOutcome } from '../../store/port/watch/digests.ts'
import type { StoredEvent } from '../../store/port/watch/events.ts'
import { nextDigest, retryDigest } from '../digest-schedule.ts'
import { type DigestEvents, digestSubject, digestText } from '../digest-text.ts'

/** A message in plain text. */
type DigestMail = { to: string; subject: string; text: string; headers: Record<string, string> }

/** `send`: resolves to whether the server has accepted the mail. `publicUrl`: the address of the web page. */
export type DigesterOptions = {
  store: Pick<Store, 'ledger' | 'events' | 'now'>
  holder: string
  send: (mail: DigestMail) => Promise<boolean>
  publicUrl: string
  onFault: (fault: unknown) => void
}

/** Seconds until another process may take over a claimed digest: longer than SMTP may take for all of them. */
const CLAIM_SECONDS = 600
/** Digests that are claimed at once. */
const MAX_CLAIMS = 10
const LOOK_MS = 10_000
const PAGE_EVENTS = 1_000
/** Events that a mail counts at most. */
const MAX_COUNTED = 5_000
/** Pages that are read for one mail, also of events that it leaves out. The next mail continues there. */
const MAX_PAGES = 200

/** Writes some of the digests that are due. Returns whether there may be more. */
export async function sendDueDigests({ store, holder, send, publicUrl, onFault }: DigesterOptions): Promise<boolean> {
  const now = await store.now()
  const claims = await store.ledger.claimDigests(holder, now + CLAIM_SECONDS, MAX_CLAIMS, now)
  for (const claim of claims) await sendDigest(claim, { store, send, publicUrl }).catch(onFault)
  return claims.length === MAX_CLAIMS
}

async function sendDigest(
  claim: ClaimedDigest,
  { store, send, publicUrl }: Pick<DigesterOptions, 'store' | 'send' | 'publicUrl'>,
): Promise<void> {
  const { ledger, events, now } = store
  const account = await ledger.accountById(claim.account)
  if (account === null) return
  const due = nextDigest(claim.period, await now())
  const record = (outcome: Partial<DigestOutcome>): Promise<void> =>
    ledger.recordDigest(claim, { seen: claim.seen, due, failures: 0, sent: null, ...outcome })
  if (account.suspended !== null) return record({})
  const last = await events.lastEvent()
  const watches = await ledger.watches(claim.account)
  const active = new Set(watches.filter(({ muted }) => muted === null).map(({ id }) => id))
  const found = await readEvents(store, claim, last, ({ watch }) => watch === null || active.has(watch))
  if (found.events.length === 0) return record({ seen: found.seen })
  const mail = {
    to: account.email,
    subject: digestSubject(found, publicUrl),
    text: digestText(found, watches, publicUrl),
    headers: unsubscribeHeaders(publicUrl, claim.key),
  }
  if (await send(mail)) return record({ seen: found.seen, sent: await now() })
  const failures = claim.failures + 1
  return record({ due: retryDigest(failures, await now()), failures })
}

/** The wanted events that a mail is about. `seen`: the last event that was read, or `last`. */
async function readEvents(
  { events }: Pick<Store, 'events'>,
  { account, seen }: ClaimedDigest,
  last: number,
  isWanted: (event: StoredEvent) => boolean,
): Promise<DigestEvents & { seen: number }> {
  const found: StoredEvent[] = []
  let after = seen
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await events.events(account, after, PAGE_EVENTS)
    found.push(...page.filter((event) => event.number <= last && isWanted(event)))
    if (found.length > MAX_COUNTED) return { events: found.slice(0, MAX_COUNTED), hasMore: true, seen: last }
    if (page.length < PAGE_EVENTS) return { events: found, hasMore: false, seen: last }
    after = page.at(-1)!.number
  }
  return { events: found, hasMore: false, seen: Math.min(after, last) }
}

/** One click ends the digest (RFC 8058). */
function unsubscribeHeaders(publicUrl: string, key: Uint8Array): Record<string, string> {
  const url = `${publicUrl}/digest/unsubscribe?key=${Buffer.from(key).toString('base64url')}`
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
}

/** Writes due digests until the signal aborts. */
export async function runDigester(options: DigesterOptions, clock: LockClock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const hasMore = await sendDueDigests(options).catch(options.onFault)
    if (hasMore !== true) await clock.wait(LOOK_MS, signal)
  }
}
