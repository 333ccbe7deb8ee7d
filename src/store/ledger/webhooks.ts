/** The webhooks of accounts, and what the processes that send to them know and record. */

import type { Instant } from '../../values/time.ts'
import {
  type ClaimedWebhook,
  type ClaimOutcome,
  DELIVERY_OUTCOMES,
  type Delivery,
  type DeliveryFigures,
  type DeliveryOutcome,
  MAX_DELIVERIES,
  type NewWebhook,
  type OwnWebhook,
  type SealedKey,
  type WebhookHealth,
} from '../port/watch/webhooks.ts'
import { type LedgerRead, ledgerStatements, row, rows, run, type Transaction } from './session.ts'

const OWN_COLUMNS = `w.id, w.url, w.watches, w.created, w.seen, w.failing_since, w.last_success, w.last_error,
  w.paused_until, w.disabled,
  (select count(*) from delivery d where d.webhook = w.id and d.due is not null) as waiting,
  (select count(*) from delivery d where d.webhook = w.id and d.due is null) as dead`
const CLAIMED_COLUMNS = `id, account, url, watches, secret_number, sealed, seen, failures, failing_since, last_success,
  last_error, paused_until, disabled, tests, tested, claimed_by, claimed_until`
const DELIVERY_COLUMNS = 'event, event_time, since, attempts, tried, due, error'
/** The webhook of an account. */
const IS_OWN = 'account = $1 and id = $2'
/** A webhook to which something is sent at the time of the parameter. */
const isActiveSql = (now: string): string => `disabled is null and paused_until <= ${now}`
/** Nothing is sent for suspended accounts. */
const IS_SENT_TO = 'account in (select id from account where suspended is null)'
/** Keys that are encrypted again at once. */
const MAX_KEYS = 100

export const WEBHOOKS = ledgerStatements('webhook', {
  all: `select ${OWN_COLUMNS} from webhook w where w.account = $1 order by w.id`,
  byId: `select ${OWN_COLUMNS} from webhook w where w.id = $1`,
  lockAccount: 'select id from account where id = $1 for update',
  count: 'select count(*) as webhooks from webhook where account = $1',
  insert: `insert into webhook (account, url, watches, secret_number, sealed, created, seen)
    select id, $2, $3, $4, $5, $6, $7 from account where id = $1 returning id`,
  remove: `delete from webhook where ${IS_OWN}`,
  removeDeliveries: 'delete from delivery where webhook = $1',
  requestTest: `update webhook set tests = tests + 1, due = $3 where ${IS_OWN} returning tests`,
  testResult: `select test_result from webhook where ${IS_OWN} and tested >= $3`,
  own: `select id from webhook where ${IS_OWN}`,
  lockOwn: `select id from webhook where ${IS_OWN} for update`,
  deliveries: `select ${DELIVERY_COLUMNS} from delivery where webhook = $1 order by event desc`,
  redeliver: `update delivery set due = $2, since = $2, attempts = 0
    where webhook = $1 and due is null and event = coalesce(cast($3 as bigint), event)`,
  /**
   * Ends a pause too: who asks for a retry knows that the receiver answers again. If a process holds a claim, its record
   * learns of that by the negative time.
   */
  wakeOwn: 'update webhook set due = $2, paused_until = -claimed_until where id = $1',

  accounts: 'select distinct account from webhook where disabled is null',
  ofAccount: 'select id from webhook where account = $1',
  wake: `update webhook set due = $2 where id = $1 and ${isActiveSql('$2')} and (due is null or due > $2)`,
  wakeAll: `update webhook set due = $1 where id in
    (select id from webhook where ${isActiveSql('$1')} and (due is null or due > $1) and seen < $2 order by id for update)`,
  limitSeen: `update webhook set seen = $1 where id in
    (select id from webhook where seen > $1 order by id for update)`,
  removeUnknown: `delete from delivery where (webhook, event) in
    (select webhook, event from delivery where event > $1 for update skip locked)`,
  limitDigests: `update digest set seen = $1 where account in
    (select account from digest where seen > $1 order by account for update)`,
  claim: `update webhook set claimed_by = $2, claimed_until = $3, due = $3 where id in
      (select id from webhook where due <= $1 and claimed_until <= $1 and ${IS_SENT_TO}
        order by due limit $4 for update skip locked)
    returning ${CLAIMED_COLUMNS}`,
  due: `select ${DELIVERY_COLUMNS} from delivery where webhook = $1 and due <= $2 order by event limit $3`,
  lockClaim: `select due, tests, tested, paused_until from webhook
    where id = $1 and claimed_by = $2 and claimed_until = $3 for update`,
  record: `update webhook set seen = $2, failures = $3, failing_since = $4, last_success = $5, last_error = $6,
    paused_until = $7, disabled = $8, due = $9, claimed_until = 0 where id = $1`,
  recordTest: 'update webhook set tested = $2, test_result = $3 where id = $1',
  saveDelivery: `insert into delivery (webhook, ${DELIVERY_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8)
    on conflict (webhook, event) do update set attempts = excluded.attempts, tried = excluded.tried,
      due = excluded.due, error = excluded.error`,
  endDelivery: 'delete from delivery where webhook = $1 and event = $2',
  retryNow: 'update delivery set due = $2 where webhook = $1 and due > $2',
  /** Events beyond the maximum that wait are not tried again. The oldest ones stay. */
  endWaiting: `update delivery set due = null where webhook = $1 and due is not null and event not in
    (select event from delivery where webhook = $1 and due is not null order by event limit ${MAX_DELIVERIES})`,
  removeDead: `delete from delivery where webhook = $1 and due is null and event not in
    (select event from delivery where webhook = $1 and due is null order by event desc limit ${MAX_DELIVERIES})`,
  nextDue: 'select min(due) as due from delivery where webhook = $1',
  raiseCount: `insert into delivery_count (outcome, count) values ($1, $2)
    on conflict (outcome) do update set count = delivery_count.count + excluded.count`,

  /** Waits for no other transaction, because it removes rows of many webhooks. */
  removeOld: `delete from delivery where (webhook, event) in
    (select webhook, event from delivery where event_time <= $1 for update skip locked)`,
  keys: `select id, secret_number, sealed from webhook where secret_number <> $1 order by id limit ${MAX_KEYS}`,
  replaceKey: 'update webhook set secret_number = $3, sealed = $4 where id = $1 and secret_number = $2',
  figures: `select count(*) as webhooks, count(disabled) as disabled,
      count(case when disabled is null then failing_since end) as failing,
      min(case when disabled is null and claimed_until <= $1 and ${IS_SENT_TO} then due end) as due from webhook`,
  counts: 'select outcome, count from delivery_count',
})

/** Removes the webhooks of an account, in this order. */
export const WEBHOOK_REMOVALS = ledgerStatements('webhook.of-account', {
  lock: 'select id from webhook where account = $1 order by id for update',
  deliveries: 'delete from delivery where webhook in (select id from webhook where account = $1)',
  webhooks: 'delete from webhook where account = $1',
})

type OwnRow = Omit<OwnWebhook, 'watches'> & { watches: string | null }
type ClaimedRow = Omit<ClaimedWebhook, 'watches' | 'key' | 'test'> & {
  watches: string | null
  secret_number: number
  sealed: Uint8Array
  tests: number
  tested: number
}
type HeldRow = { due: Instant | null; tests: number; tested: number; paused_until: Instant }
type FigureRow = { webhooks: number; disabled: number; failing: number; due: Instant | null }

function watchesOf({ watches }: { watches: string | null }): number[] | null {
  return watches === null ? null : watches.split(',').map(Number)
}

function ownWebhook(found: OwnRow): OwnWebhook {
  return { ...found, watches: watchesOf(found) }
}

function claimedWebhook({ secret_number, sealed, tests, tested, ...found }: ClaimedRow): ClaimedWebhook {
  const key = { number: secret_number, bytes: sealed }
  return { ...found, watches: watchesOf(found), key, test: tests > tested ? tests : null }
}

export function webhookReads(read: LedgerRead) {
  const isOwn = async (account: number, webhook: number): Promise<boolean> =>
    (await read(WEBHOOKS.own, [account, webhook])).length > 0
  return {
    webhooks: async (account: number) => (await read<OwnRow>(WEBHOOKS.all, [account])).map(ownWebhook),
    testResult: async (account: number, webhook: number, test: number) =>
      (await read<{ test_result: string | null }>(WEBHOOKS.testResult, [account, webhook, test]))[0]?.test_result ??
      null,
    deliveries: async (account: number, webhook: number) =>
      (await isOwn(account, webhook)) ? read<Delivery>(WEBHOOKS.deliveries, [webhook]) : null,
    accountsWithWebhooks: async () =>
      (await read<{ account: number }>(WEBHOOKS.accounts)).map(({ account }) => account),
    dueDeliveries: (webhook: number, now: Instant, limit: number) =>
      read<Delivery>(WEBHOOKS.due, [webhook, now, limit]),
    keysSealedOtherwise: async (number: number) =>
      (await read<{ id: number; secret_number: number; sealed: Uint8Array }>(WEBHOOKS.keys, [number])).map(
        ({ id, secret_number, sealed }) => ({ id, key: { number: secret_number, bytes: sealed } }),
      ),
    async deliveryFigures(now: Instant): Promise<DeliveryFigures> {
      const [found] = await read<FigureRow>(WEBHOOKS.figures, [now])
      const { webhooks, disabled, failing, due } = found!
      const counted = await read<{ outcome: DeliveryOutcome; count: number }>(WEBHOOKS.counts)
      const counts = { sent: 0, failed: 0, dead: 0 }
      for (const { outcome, count } of counted) counts[outcome] = count
      return { active: webhooks - disabled - failing, failing, disabled, late: Math.max(0, now - (due ?? now)), counts }
    },
  }
}

export const webhookTransactions = {
  *createWebhook(
    now: Instant,
    max: number,
    account: number,
    { url, watches, key, seen }: NewWebhook,
  ): Transaction<OwnWebhook | null> {
    yield* run(WEBHOOKS.lockAccount, [account])
    if ((yield* row<{ webhooks: number }>(WEBHOOKS.count, [account]))!.webhooks >= max) return null
    const values = [account, url, watches?.join(',') ?? null, key.number, key.bytes, now, seen]
    const { id } = (yield* row<{ id: number }>(WEBHOOKS.insert, values))!
    return ownWebhook((yield* row<OwnRow>(WEBHOOKS.byId, [id]))!)
  },

  *removeWebhook(_now: Instant, account: number, webhook: number): Transaction<boolean> {
    if ((yield* run(WEBHOOKS.remove, [account, webhook])) === 0) return false
    yield* run(WEBHOOKS.removeDeliveries, [webhook])
    return true
  },

  *requestTest(now: Instant, account: number, webhook: number): Transaction<number | null> {
    return (yield* row<{ tests: number }>(WEBHOOKS.requestTest, [account, webhook, now]))?.tests ?? null
  },

  *redeliver(now: Instant, account: number, webhook: number, event: number | null): Transaction<number | null> {
    if ((yield* row(WEBHOOKS.lockOwn, [account, webhook])) === undefined) return null
    const changed = yield* run(WEBHOOKS.redeliver, [webhook, now, event])
    if (changed > 0) yield* run(WEBHOOKS.wakeOwn, [webhook, now])
    return changed
  },

  *wakeWebhooks(now: Instant, accounts: readonly number[]): Transaction<void> {
    const ids: number[] = []
    for (const account of accounts)
      for (const { id } of yield* rows<{ id: number }>(WEBHOOKS.ofAccount, [account])) ids.push(id)
    for (const id of ids.sort((a, b) => a - b)) yield* run(WEBHOOKS.wake, [id, now])
  },

  *wakeAllWebhooks(now: Instant, last: number): Transaction<void> {
    yield* run(WEBHOOKS.wakeAll, [now, last])
  },

  *limitSeen(_now: Instant, highest: number): Transaction<void> {
    yield* run(WEBHOOKS.limitSeen, [highest])
    yield* run(WEBHOOKS.removeUnknown, [highest])
    yield* run(WEBHOOKS.limitDigests, [highest])
  },

  *claimWebhooks(now: Instant, holder: string, until: Instant, limit: number): Transaction<ClaimedWebhook[]> {
    return (yield* rows<ClaimedRow>(WEBHOOKS.claim, [now, holder, until, limit])).map(claimedWebhook)
  },

  *recordDeliveries(now: Instant, claim: ClaimedWebhook, outcome: ClaimOutcome): Transaction<boolean> {
    const { id, claimed_by, claimed_until } = claim
    const held = yield* row<HeldRow>(WEBHOOKS.lockClaim, [id, claimed_by, claimed_until])
    if (held === undefined) return false
    if (outcome.test !== null) yield* run(WEBHOOKS.recordTest, [id, claim.test, outcome.test])
    yield* saveDeliveries(now, id, outcome)
    const isTestRequested = held.tests > (outcome.test === null ? held.tested : claim.test!)
    const isRedelivered = held.paused_until === -claimed_until
    const health = isRedelivered ? { ...outcome.health, paused_until: 0 } : outcome.health
    const isWoken = (held.due !== null && held.due < claimed_until) || hasResumed(claim, health)
    const due = isTestRequested ? now : yield* nextLook(now, id, { ...outcome, health }, isWoken)
    const { failures, failing_since, last_success, last_error, paused_until, disabled } = health
    const values = [failures, failing_since, last_success, last_error, paused_until, disabled]
    yield* run(WEBHOOKS.record, [id, outcome.seen, ...values, due])
    for (const each of DELIVERY_OUTCOMES)
      if (outcome.counts[each] > 0) yield* run(WEBHOOKS.raiseCount, [each, outcome.counts[each]])
    return true
  },

  *removeOldDeliveries(_now: Instant, before: Instant): Transaction<void> {
    yield* run(WEBHOOKS.removeOld, [before])
  },

  *replaceKey(_now: Instant, webhook: number, former: number, { number, bytes }: SealedKey): Transaction<void> {
    yield* run(WEBHOOKS.replaceKey, [webhook, former, number, bytes])
  },
}

function* saveDeliveries(
  now: Instant,
  webhook: number,
  { delivered, failed, retriesNow }: ClaimOutcome,
): Transaction<void> {
  for (const event of delivered) yield* run(WEBHOOKS.endDelivery, [webhook, event])
  for (const { event, event_time, since, attempts, tried, due, error } of failed)
    yield* run(WEBHOOKS.saveDelivery, [webhook, event, event_time, since, attempts, tried, due, error])
  if (retriesNow) yield* run(WEBHOOKS.retryNow, [webhook, now])
  if (failed.length === 0) return
  yield* run(WEBHOOKS.endWaiting, [webhook])
  yield* run(WEBHOOKS.removeDead, [webhook])
}

/** Whether a claim ended a pause, or that the webhook was disabled. Until then, no event woke it. */
function hasResumed(before: WebhookHealth, after: WebhookHealth): boolean {
  return (before.disabled !== null && after.disabled === null) || before.paused_until !== after.paused_until
}

/** When a process looks at a webhook again; null: at the next event. `isWoken`: there may be events after `seen`. */
function* nextLook(
  now: Instant,
  webhook: number,
  { health, continuesAt }: ClaimOutcome,
  isWoken: boolean,
): Transaction<Instant | null> {
  if (health.disabled !== null) return null
  if (health.paused_until > now) return health.paused_until
  if (isWoken) return now
  const retry = (yield* row<{ due: Instant | null }>(WEBHOOKS.nextDue, [webhook]))!.due
  return continuesAt === null || (retry !== null && retry < continuesAt) ? retry : continuesAt
}
