/** Sends what is due to one claimed webhook: a requested test, new events in their order, and retries. */

import type { Ledger } from '../../store/port/ledger.ts'
import type { EventReader, StoredEvent } from '../../store/port/watch/events.ts'
import type { ClaimedWebhook, ClaimOutcome, Delivery, DeliveryOutcome } from '../../store/port/watch/webhooks.ts'
import type { Instant } from '../../values/time.ts'
import { DOWN_FAILURES, nextAttempt, pauseAfter, RETRY_SECONDS } from '../retry-schedule.ts'
import { eventMessage, signedHeaders, testMessage, type WebhookMessage } from '../webhook-message.ts'
import type { Attempt, SendMessage } from './webhook-sender.ts'

/** `now`: whole Unix seconds of the store. `monotonicMs`: milliseconds. `random`: from 0 to 1. */
export type RunDependencies = {
  ledger: Pick<Ledger, 'watches' | 'dueDeliveries'>
  events: EventReader
  send: SendMessage
  now: () => Promise<Instant>
  monotonicMs: () => number
  random: () => number
  isEnding: () => boolean
}

/** Events that a run reads at once, and sends at most. What is left follows in the next run. */
const PAGE_EVENTS = 500
/** Milliseconds after which a run begins no further attempt, so that it ends long before its claim does. */
const RUN_MS = 10_000
/** Pages of events that a run reads at most while it gives up old ones, and their length. */
const OLD_PAGES = 20
const OLD_PAGE_EVENTS = 1_000

/** An event that was never tried. */
const TOO_OLD = { attempts: 0, tried: null, due: null, error: 'not sent: the receiver was down for three days' }
const KEY_LOST = 'its key cannot be decrypted any more: remove the webhook and create another one'

/** The outcome of the run. `key`: null if it cannot be decrypted. It rejects only if the store fails. */
export async function runWebhook(
  claim: ClaimedWebhook,
  key: Uint8Array | null,
  dependencies: RunDependencies,
): Promise<ClaimOutcome> {
  const run = new WebhookRun(claim, key, dependencies)
  await run.all()
  return run.outcome
}

class WebhookRun {
  readonly outcome: ClaimOutcome & { delivered: number[]; failed: Delivery[]; counts: Record<DeliveryOutcome, number> }
  readonly #claim: ClaimedWebhook
  readonly #key: Uint8Array | null
  readonly #dependencies: RunDependencies
  readonly #endsAt: number

  constructor(claim: ClaimedWebhook, key: Uint8Array | null, dependencies: RunDependencies) {
    const { seen, failures, failing_since, last_success, last_error, paused_until, disabled } = claim
    this.#claim = claim
    this.#key = key
    this.#dependencies = dependencies
    this.#endsAt = dependencies.monotonicMs() + RUN_MS
    this.outcome = {
      seen,
      health: { failures, failing_since, last_success, last_error, paused_until, disabled },
      test: null,
      delivered: [],
      failed: [],
      retriesNow: false,
      continuesAt: null,
      counts: { sent: 0, failed: 0, dead: 0 },
    }
  }

  async all(): Promise<void> {
    if (this.#claim.test !== null) await this.#test(this.#claim.test)
    const isWanted = await this.#wantedEvents()
    await this.#sendNew(isWanted)
    await this.#retry(isWanted)
    if (this.#isDown) await this.#giveUp(isWanted)
  }

  get #isDown(): boolean {
    return this.outcome.health.failures >= DOWN_FAILURES
  }

  /** Whether a further attempt may begin. If only the time of the run is over, the next run begins at once. */
  async #mayContinue(): Promise<boolean> {
    const { now, monotonicMs, isEnding } = this.#dependencies
    const { disabled, paused_until } = this.outcome.health
    const time = await now()
    if (disabled !== null || paused_until > time) return false
    if (!isEnding() && monotonicMs() < this.#endsAt) return true
    this.outcome.continuesAt = time
    return false
  }

  /** Whether the account still wants an event: the webhook has its watch, which is neither removed nor muted. */
  async #wantedEvents(): Promise<(event: StoredEvent) => boolean> {
    const { account, watches } = this.#claim
    const own = await this.#dependencies.ledger.watches(account)
    const wanted = new Set(own.filter(({ muted }) => muted === null).map(({ id }) => id))
    return ({ watch }) => (watch === null ? watches === null : wanted.has(watch) && (watches?.includes(watch) ?? true))
  }

  /** A test that fails says nothing new to anyone but its requester. */
  async #test(test: number): Promise<void> {
    const { now, monotonicMs } = this.#dependencies
    const start = monotonicMs()
    const attempt = await this.#send(testMessage(this.#claim.id, test, await now()))
    const { isDelivered: delivered, status, error } = attempt
    const milliseconds = Math.round(monotonicMs() - start)
    this.outcome.test = JSON.stringify({ delivered, status, error, milliseconds })
    if (!delivered) return
    this.outcome.health.disabled = null
    await this.#noteSuccess()
  }

  async #sendNew(isWanted: (event: StoredEvent) => boolean): Promise<void> {
    if (!(await this.#mayContinue())) return
    const page = await this.#page(PAGE_EVENTS)
    for (const event of page) {
      if (isWanted(event)) {
        if (!(await this.#mayContinue())) return
        const attempt = await this.#send(eventMessage(event))
        if (attempt.isDelivered) await this.#noteSuccess()
        else await this.#noteFailure(event.number, event.time, null, attempt)
      }
      this.outcome.seen = event.number
    }
    if (page.length === PAGE_EVENTS) this.outcome.continuesAt = await this.#dependencies.now()
  }

  #page(length: number): Promise<StoredEvent[]> {
    return this.#dependencies.events.events(this.#claim.account, this.outcome.seen, length)
  }

  async #retry(isWanted: (event: StoredEvent) => boolean): Promise<void> {
    const { ledger, events, now } = this.#dependencies
    if (!(await this.#mayContinue())) return
    const due = await ledger.dueDeliveries(this.#claim.id, await now(), PAGE_EVENTS)
    for (const delivery of due) {
      const [event] = await events.events(this.#claim.account, delivery.event - 1, 1)
      if (event?.number !== delivery.event || !isWanted(event)) {
        this.outcome.delivered.push(delivery.event)
        continue
      }
      if (!(await this.#mayContinue())) return
      const attempt = await this.#send(eventMessage(event))
      if (!attempt.isDelivered) {
        await this.#noteFailure(delivery.event, delivery.event_time, delivery, attempt)
        continue
      }
      this.outcome.delivered.push(delivery.event)
      await this.#noteSuccess()
    }
  }

  async #send(message: WebhookMessage): Promise<Attempt> {
    const { send, now } = this.#dependencies
    if (this.#key === null) return { isDelivered: false, status: null, error: KEY_LOST, retryAfter: null }
    return send(this.#claim.url, signedHeaders(message, this.#key, await now()), message.body)
  }

  async #noteSuccess(): Promise<void> {
    const { health, counts } = this.outcome
    counts.sent++
    if (this.#isDown) this.outcome.retriesNow = true
    const last_success = await this.#dependencies.now()
    Object.assign(health, { failures: 0, failing_since: null, last_success, paused_until: 0 })
  }

  /** `former`: the earlier attempts of a retry; null for the first one. */
  async #noteFailure(event: number, event_time: Instant, former: Delivery | null, attempt: Attempt): Promise<void> {
    const { now, random } = this.#dependencies
    const { health, counts } = this.outcome
    const tried = await now()
    counts.failed++
    health.failing_since ??= tried
    health.last_error = attempt.error
    // One event that always fails says nothing about the receiver, and its retries are rare enough.
    if (former === null || this.#isDown) health.failures++
    if (attempt.status === 410 || this.#key === null) health.disabled = tried
    const pause = pauseAfter(health.failures, attempt.retryAfter)
    if (pause > 0) health.paused_until = tried + pause
    const { since, attempts } = former ?? { since: event_time, attempts: 0 }
    const retry = { attempts: attempts + 1, since, retryAfter: attempt.retryAfter, random: random() }
    const due = nextAttempt(retry, tried)
    this.#save({ event, event_time, since, attempts: attempts + 1, tried, due, error: attempt.error! })
  }

  #save(delivery: Delivery): void {
    this.outcome.failed.push(delivery)
    if (delivery.due === null) this.outcome.counts.dead++
  }

  /** While the receiver is down, what has waited for too long is not tried any more. */
  async #giveUp(isWanted: (event: StoredEvent) => boolean): Promise<void> {
    const { ledger, now } = this.#dependencies
    const time = await now()
    const oldest = time - RETRY_SECONDS
    const known = new Set(this.outcome.failed.map(({ event }) => event))
    for (const delivery of await ledger.dueDeliveries(this.#claim.id, time, OLD_PAGE_EVENTS))
      if (delivery.since <= oldest && !known.has(delivery.event)) this.#save({ ...delivery, due: null })
    for (let pages = 0; pages < OLD_PAGES; pages++) {
      const page = await this.#page(OLD_PAGE_EVENTS)
      for (const event of page) {
        if (event.time > oldest) return
        if (isWanted(event)) this.#save({ ...TOO_OLD, event: event.number, event_time: event.time, since: event.time })
        this.outcome.seen = event.number
      }
      if (page.length < OLD_PAGE_EVENTS) return
    }
  }
}
