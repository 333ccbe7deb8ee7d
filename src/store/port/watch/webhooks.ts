/** The webhooks' part of the ledger: where the events of accounts are sent, and what failed. */

import type { Instant } from '../../../values/time.ts'

/** A key, encrypted by the secret of the installation with this number. */
export type SealedKey = { number: number; bytes: Uint8Array }

/** `watches`: the IDs of those whose events are sent; null for all. `seen`: the event after which they begin. */
export type NewWebhook = { url: string; watches: readonly number[] | null; key: SealedKey; seen: number }

/**
 * A webhook as its account sees it. `seen`: the number of the last event that was tried once or passed over.
 * `failing_since`: the first failed attempt after the last success; null if the last attempt succeeded. `paused_until`: a
 * time in the past if it is not paused. `disabled`: since when nothing is sent. `waiting`, `dead`: events that wait for a
 * retry, and those that are not tried again.
 */
export type OwnWebhook = Omit<NewWebhook, 'key'> & {
  id: number
  created: Instant
  failing_since: Instant | null
  last_success: Instant | null
  last_error: string | null
  paused_until: Instant
  disabled: Instant | null
  waiting: number
  dead: number
}

/**
 * An event whose first attempt failed. `since`: when its days of retries began. `tried`: the last attempt; null if it was
 * too old to be tried. `due`: the next attempt; null if there is none.
 */
export type Delivery = {
  event: number
  event_time: Instant
  since: Instant
  attempts: number
  tried: Instant | null
  due: Instant | null
  error: string
}

/** How the attempts of a webhook go. `failures`: failed attempts since the last success. */
export type WebhookHealth = Pick<
  OwnWebhook,
  'failing_since' | 'last_success' | 'last_error' | 'paused_until' | 'disabled'
> & { failures: number }

/** A webhook that one process sends to, until `claimed_until`. `test`: the number of a requested test; null for none. */
export type ClaimedWebhook = Omit<NewWebhook, 'key'> &
  WebhookHealth & {
    id: number
    account: number
    key: SealedKey
    test: number | null
    claimed_by: string
    claimed_until: Instant
  }

/**
 * The outcome of a claim. `test`: the JSON of its result; null if there was none. `delivered`: events that had failed
 * before. `failed`: events that failed now. `retriesNow`: whether all that wait are due now. `continuesAt`: when the
 * process looks again, also if nothing else is due; null: no earlier than that.
 */
export type ClaimOutcome = {
  seen: number
  health: WebhookHealth
  test: string | null
  delivered: readonly number[]
  failed: readonly Delivery[]
  retriesNow: boolean
  continuesAt: Instant | null
  counts: Readonly<Record<DeliveryOutcome, number>>
}

/** What is counted: attempts that succeeded or failed, and events that are not tried again. */
export const DELIVERY_OUTCOMES = ['sent', 'failed', 'dead'] as const
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]

/** Events of a webhook that wait for a retry, and those that are not tried again. Beyond that, the oldest are removed. */
export const MAX_DELIVERIES = 1_000

/** For metrics. `late`: seconds since which the webhook that is due for the longest time waits. */
export type DeliveryFigures = {
  active: number
  failing: number
  disabled: number
  late: number
  counts: Record<DeliveryOutcome, number>
}

export interface Webhooks {
  /** The webhooks of an account, oldest first. */
  webhooks(account: number): Promise<OwnWebhook[]>
  /** Returns null if the account has `max` webhooks. */
  createWebhook(max: number, account: number, webhook: NewWebhook, now: Instant): Promise<OwnWebhook | null>
  /** Returns false if the account has no such webhook. */
  removeWebhook(account: number, webhook: number): Promise<boolean>
  /** Requests a test message. Returns the number of the test; null if the account has no such webhook. */
  requestTest(account: number, webhook: number, now: Instant): Promise<number | null>
  /** The JSON of the result of a test; null if there is none yet, or no such webhook. */
  testResult(account: number, webhook: number, test: number): Promise<string | null>
  /** The events that failed, newest first; null if the account has no such webhook. */
  deliveries(account: number, webhook: number): Promise<Delivery[] | null>
  /**
   * Makes one event, or all (null), that is not tried again due now. Returns their number; null if the account has no
   * such webhook.
   */
  redeliver(account: number, webhook: number, event: number | null, now: Instant): Promise<number | null>
}

/** For the process that sends. */
export interface WebhookQueue {
  /** The accounts that have webhooks to which something is sent. */
  accountsWithWebhooks(): Promise<number[]>
  /** Makes the webhooks of these accounts due, because they have new events. Those that are paused stay so. */
  wakeWebhooks(accounts: readonly number[], now: Instant): Promise<void>
  /** Makes all webhooks due that have not seen an event. */
  wakeAllWebhooks(last: number, now: Instant): Promise<void>
  /** Lets no webhook and no digest know later events than the one with this number. */
  limitSeen(highest: number): Promise<void>
  /** Claims at most `limit` due webhooks that no process has claimed, of accounts that are not suspended. */
  claimWebhooks(holder: string, until: Instant, limit: number, now: Instant): Promise<ClaimedWebhook[]>
  /** The events of a webhook that are due for a retry, oldest first. */
  dueDeliveries(webhook: number, now: Instant, limit: number): Promise<Delivery[]>
  /** Ends a claim. Returns false, and writes nothing, if it was lost. */
  recordDeliveries(claim: ClaimedWebhook, outcome: ClaimOutcome, now: Instant): Promise<boolean>
  /** Removes what failed about events that were written before this time. */
  removeOldDeliveries(before: Instant): Promise<void>
  /** At most 100 keys that are encrypted by another secret than the one with this number. */
  keysSealedOtherwise(number: number): Promise<{ id: number; key: SealedKey }[]>
  /** Replaces the encrypted form of a key, if `former` is still the one that is stored. */
  replaceKey(webhook: number, former: number, key: SealedKey): Promise<void>
  deliveryFigures(now: Instant): Promise<DeliveryFigures>
}
