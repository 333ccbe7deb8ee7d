/** The process of `serve --ct` that follows certificate logs. */

import { setPriority } from 'node:os'
import type { Logger } from 'pino'
import type { Settings } from '../../config/settings.ts'
import { openStore } from '../../store/open.ts'
import { followConfiguredLogs } from '../certificate-logs/run.ts'
import { runChildProcess } from './child-process.ts'

/** Lower priority than the workers, because names may come a minute later. */
const CERTIFICATE_LOGS_NICENESS = 5

runChildProcess({
  name: 'certificate logs',
  run({ settings }, log, signal) {
    setPriority(CERTIFICATE_LOGS_NICENESS)
    return follow(settings, log, signal)
  },
})

async function follow(settings: Settings, log: Logger, signal: AbortSignal): Promise<void> {
  const { secret, pool } = settings
  const store = await openStore(settings.store, { access: 'write', ledger: 'own', secret, pool })
  const options = { log: null, logKey: null, isOnce: false, isReadmitted: false }
  log.info('following certificate logs')
  try {
    await followConfiguredLogs(
      settings,
      store,
      options,
      {
        warn: (message) => log.error(message),
        onNames() {},
        onBatch: ({ url }, { entries }, newNames) => log.debug({ url, entries, newNames }, 'certificate log read'),
        onProblem: ({ url }, message, isLeftOut) =>
          isLeftOut ? log.error({ url }, `certificate log left out: ${message}`) : log.warn({ url }, message),
      },
      signal,
    )
  } finally {
    await store.close()
  }
  log.info('certificate logs stopped')
}
