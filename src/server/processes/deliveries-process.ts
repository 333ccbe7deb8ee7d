/** The deliveries process of `serve`: sends events to webhooks, and digests by mail. */

import { setPriority } from 'node:os'
import type { Logger } from 'pino'
import type { Settings } from '../../config/settings.ts'
import { mailSettings } from '../../config/web.ts'
import { runDeliverer } from '../../delivery/sending/deliverer.ts'
import { type DigesterOptions, runDigester } from '../../delivery/sending/digester.ts'
import { openWebhookSender } from '../../delivery/sending/webhook-sender.ts'
import { webhookTargets } from '../../delivery/webhook-url.ts'
import { processHolderName } from '../../store/named-lock.ts'
import { openStore } from '../../store/open.ts'
import { userAgentOf } from '../crawl/crawl-access.ts'
import { SYSTEM_CLOCK } from '../system-clock.ts'
import { plainMessageOf, runChildProcess } from './child-process.ts'
import type { DeliveriesOrder } from './messages.ts'

/** Lower priority than the workers, because a message may come a second later. */
const DELIVERIES_NICENESS = 5
/** PostgreSQL connections: this process reads and writes little at once. */
const DELIVERIES_POOL_SIZE = 4

runChildProcess<DeliveriesOrder>({
  name: 'deliveries',
  run({ settings, demo }, log, signal) {
    setPriority(DELIVERIES_NICENESS)
    return deliver(settings, demo, log, signal)
  },
})

async function deliver(settings: Settings, demo: boolean, log: Logger, signal: AbortSignal): Promise<void> {
  const { secret, webhookPrivate, crawlContact } = settings
  const pool = Math.min(settings.pool, DELIVERIES_POOL_SIZE)
  const store = await openStore(settings.store, { access: 'read', ledger: 'own', secret, pool, demo })
  const sender = openWebhookSender(webhookTargets(webhookPrivate), userAgentOf(crawlContact))
  const holder = processHolderName()
  log.info({ holder }, 'deliveries started')
  try {
    const shared = { store, holder, onFault: (error: unknown) => logDeliveryFault(log, error) }
    const options = { ...shared, send: sender.send, monotonicMs: () => performance.now(), random: Math.random }
    await Promise.all([runDeliverer(options, SYSTEM_CLOCK, signal), writeDigests(settings, shared, log, signal)])
  } finally {
    await sender.close()
    await store.close()
  }
  log.info('deliveries stopped')
}

/** Writes digests if the installation sends mail. */
async function writeDigests(
  settings: Settings,
  shared: Pick<DigesterOptions, 'store' | 'holder' | 'onFault'>,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const mail = mailSettings(settings)
  if (mail === null) return
  const { Mailer } = await import('../../api/context/mailer.ts')
  const mailer = new Mailer(mail, log)
  const send: DigesterOptions['send'] = (message) => mailer.send(message)
  await runDigester({ ...shared, send, publicUrl: mail.publicUrl }, SYSTEM_CLOCK, signal)
  mailer.close()
}

function logDeliveryFault(log: Logger, error: unknown): void {
  const message = plainMessageOf(error)
  if (message === null) log.error({ err: error }, 'delivery error')
  else log.error(`deliveries paused: ${message}`)
}
