/**
 * Everything that the store has about one account, as one JSON document, for its owner. It has no secrets: no hashes of
 * tokens, sessions and passwords, and no keys of webhooks, digests and feeds.
 */

import type { Account } from '../accounts/account.ts'
import type { AuditEntry } from '../accounts/audit.ts'
import { eventJson } from '../delivery/webhook-message.ts'
import { eventPages } from '../store/event-pages.ts'
import type { Ledger } from '../store/port/ledger.ts'
import type { Store } from '../store/port/store.ts'
import { type Instant, utcText } from '../values/time.ts'

/** Rows that are read at once. */
const PAGE_ROWS = 1_000

/** The keys whose values are instants, in any of the objects. */
const INSTANT_KEYS = new Set([
  ...['exported', 'created', 'suspended', 'expires', 'last_used', 'revoked', 'muted', 'time', 'due', 'sent', 'tried'],
  ...['since', 'event_time', 'failing_since', 'last_success', 'paused_until', 'disabled'],
])

/** Yields the document in pieces. The parts are read one after another, so they may be of different moments. */
export async function* accountDocument(
  { ledger, events }: Pick<Store, 'ledger' | 'events'>,
  account: Account,
  exported: Instant,
): AsyncGenerator<string> {
  const { id, email } = account
  const parts = {
    exported,
    account,
    has_password: (await ledger.password(id)) !== null,
    tokens: await ledger.tokens(id),
    sessions: await ledger.sessions(id),
    usage: await ledger.usage(id, null, null),
    budgets: await ledger.budgets(id),
    paid_files: await ledger.paidFiles(id),
    watches: await ledger.watches(id),
    webhooks: await webhooksOf(ledger, id),
    digest: await ledger.digest(id),
    feed_created: utcText(await ledger.feedCreated(id)),
  }
  const head = JSON.stringify(parts, (key, value) => (INSTANT_KEYS.has(key) ? utcText(value) : value), 2)
  yield head.slice(0, -'\n}'.length)
  yield* arrayPart('audit', auditPages(ledger, email), ({ time, ...entry }) =>
    JSON.stringify({ time: utcText(time), ...entry }),
  )
  yield* arrayPart('events', eventPages(events, id), eventJson)
  yield '\n}\n'
}

async function webhooksOf(ledger: Ledger, account: number) {
  const webhooks = await ledger.webhooks(account)
  return Promise.all(
    webhooks.map(async (webhook) => ({ ...webhook, deliveries: await ledger.deliveries(account, webhook.id) })),
  )
}

/** Yields a further key of an object, with an array that has one row per line. */
async function* arrayPart<Row>(
  key: string,
  pages: AsyncIterable<readonly Row[]>,
  jsonOf: (row: Row) => string,
): AsyncGenerator<string> {
  yield `,\n  "${key}": [`
  let separator = '\n    '
  for await (const rows of pages)
    for (const row of rows) {
      yield separator + jsonOf(row)
      separator = ',\n    '
    }
  yield ']'
}

async function* auditPages(ledger: Ledger, email: string): AsyncGenerator<AuditEntry[]> {
  for (let after = 0; ; ) {
    const page = await ledger.audit({ email, from: null, to: null }, after, PAGE_ROWS)
    yield page
    if (page.length < PAGE_ROWS) return
    after = page.at(-1)!.id
  }
}
