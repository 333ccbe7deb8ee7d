/** The metrics of webhooks, which are read from the store. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Store } from '../../store/port/store.ts'
import type { DeliveryFigures } from '../../store/port/watch/webhooks.ts'
import { cachedRead } from './cached-read.ts'

/** Milliseconds for which the figures are cached, and that a request for metrics waits for them. */
const CACHE_MS = 5_000
const TIMEOUT_MS = 700

export function addDeliveryMetrics(registry: Registry, { ledger, now }: Pick<Store, 'ledger' | 'now'>): void {
  const readFigures = async (): Promise<DeliveryFigures | null> => ledger.deliveryFigures(await now())
  const read = cachedRead(readFigures, CACHE_MS, null)
  const figures = (): Promise<DeliveryFigures | null> => Promise.race([read(), sleep(TIMEOUT_MS, null, { ref: false })])
  const registers = [registry]
  new Gauge({
    name: 'domaindex_webhooks',
    help: 'Webhooks by state: active, failing or disabled.',
    labelNames: ['state'],
    registers,
    async collect() {
      const found = await figures()
      this.reset()
      if (found === null) return
      for (const state of ['active', 'failing', 'disabled'] as const) this.set({ state }, found[state])
    },
  })
  new Gauge({
    name: 'domaindex_webhook_lag_seconds',
    help: 'For how long something is due for a webhook that no process sends to.',
    registers,
    async collect() {
      const found = await figures()
      if (found === null) this.remove()
      else this.set(found.late)
    },
  })
  new Counter({
    name: 'domaindex_webhook_messages_total',
    help: 'Attempts to send an event that were successful (sent) or not (failed), and events that are not tried again (dead).',
    labelNames: ['outcome'],
    registers,
    async collect() {
      const found = await figures()
      this.reset()
      for (const [outcome, count] of Object.entries(found?.counts ?? {})) this.inc({ outcome }, count)
    },
  })
}
