/** The deliverer: finds webhooks that have something to send, claims them, and sends. Several can share a store. */

import type { LockClock } from '../../store/named-lock.ts'
import type { Store } from '../../store/port/store.ts'
import { EVENT_SECONDS } from '../../store/port/watch/events.ts'
import type { ClaimedWebhook } from '../../store/port/watch/webhooks.ts'
import { openWebhookKey, sealWebhookKey } from '../webhook-key.ts'
import { runWebhook } from './webhook-run.ts'
import type { SendMessage } from './webhook-sender.ts'

/** `random`: from 0 to 1. `onFault`: a webhook could not be sent to, because the store failed. */
export type DelivererOptions = {
  store: Pick<Store, 'ledger' | 'events' | 'now'>
  holder: string
  send: SendMessage
  monotonicMs: () => number
  random: () => number
  onFault: (fault: unknown) => void
}

/** Webhooks to which this process sends at once. */
const MAX_RUNS = 16
/** Seconds until another process may take over a claimed webhook. A run ends long before. */
const CLAIM_SECONDS = 60
/** Milliseconds between two looks for something to send, and between two clean-ups. */
const LOOK_MS = 1_000
const CLEAN_UP_MS = 600_000

export class Deliverer {
  readonly #options: DelivererOptions
  readonly #runs = new Set<Promise<void>>()
  /** The number of the newest event at the last look; null before the first one. */
  #looked: number | null = null
  #cleanedUpAt = Number.NEGATIVE_INFINITY
  #isEnding = false

  constructor(options: DelivererOptions) {
    this.#options = options
  }

  /** Begins to send what is due. Resolves when it has claimed the webhooks. */
  async look(): Promise<void> {
    const { store, holder, monotonicMs, onFault } = this.#options
    await this.#wake()
    if (monotonicMs() - this.#cleanedUpAt >= CLEAN_UP_MS) {
      this.#cleanedUpAt = monotonicMs()
      await this.#cleanUp()
    }
    const free = MAX_RUNS - this.#runs.size
    if (free === 0) return
    const now = await store.now()
    for (const claim of await store.ledger.claimWebhooks(holder, now + CLAIM_SECONDS, free, now)) {
      const run = this.#run(claim)
        .catch(onFault)
        .finally(() => this.#runs.delete(run))
      this.#runs.add(run)
    }
  }

  /** Resolves when nothing is being sent. */
  async idle(): Promise<void> {
    await Promise.all(this.#runs)
  }

  /** Begins no further attempts. Resolves when nothing is being sent. */
  end(): Promise<void> {
    this.#isEnding = true
    return this.idle()
  }

  /** Makes the webhooks due that have new events: at the first look all of them, then those of accounts with events. */
  async #wake(): Promise<void> {
    const { ledger, events, now } = this.#options.store
    const last = await events.lastEvent()
    if (last < (this.#looked ?? Infinity)) await this.#limitSeen(last)
    if (this.#looked === null) await ledger.wakeAllWebhooks(last, await now())
    else if (last > this.#looked) {
      const waiting = new Set(await ledger.accountsWithWebhooks())
      const accounts = waiting.size === 0 ? [] : await events.accountsWithEvents(this.#looked, last)
      const woken = accounts.filter((account) => waiting.has(account))
      if (woken.length > 0) await ledger.wakeWebhooks(woken, await now())
    }
    this.#looked = last
  }

  /** If the events were restored from an older backup than the ledger, the numbers that are given again are new. */
  async #limitSeen(last: number): Promise<void> {
    const { ledger, events } = this.#options.store
    await ledger.limitSeen(Math.max(last, await events.highestNumber()))
  }

  async #run(claim: ClaimedWebhook): Promise<void> {
    const { store, send, monotonicMs, random } = this.#options
    const { ledger, events } = store
    const now = (): Promise<number> => store.now()
    const key = openWebhookKey(await ledger.secrets(await now()), claim.key)
    const isEnding = (): boolean => this.#isEnding
    const outcome = await runWebhook(claim, key, { ledger, events, send, now, monotonicMs, random, isEnding })
    await ledger.recordDeliveries(claim, outcome, await now())
  }

  /** Removes what failed long ago, and encrypts keys again whose secret was replaced. */
  async #cleanUp(): Promise<void> {
    const { ledger, now } = this.#options.store
    const time = await now()
    await ledger.removeOldDeliveries(time - EVENT_SECONDS)
    const secrets = await ledger.secrets(time)
    for (const { id, key } of await ledger.keysSealedOtherwise(secrets[0]!.number)) {
      const opened = openWebhookKey(secrets, key)
      if (opened !== null) await ledger.replaceKey(id, key.number, sealWebhookKey(secrets, opened))
    }
  }
}

/** Sends what is due until the signal aborts. */
export async function runDeliverer(options: DelivererOptions, clock: LockClock, signal: AbortSignal): Promise<void> {
  const deliverer = new Deliverer(options)
  while (!signal.aborted) {
    await deliverer.look().catch(options.onFault)
    await clock.wait(LOOK_MS, signal)
  }
  await deliverer.end()
}
