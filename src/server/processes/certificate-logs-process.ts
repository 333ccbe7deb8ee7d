/** The process of `serve --ct` that follows certificate logs. */

import { setPriority } from 'node:os'
import type { Logger } from 'pino'
import { CommandFault } from '../../config/command-fault.ts'
import type { Settings } from '../../config/settings.ts'
import { userMessageOf } from '../../store/engines.ts'
import { openStore } from '../../store/open.ts'
import { StoreFault } from '../../store/port/fault.ts'
import { followConfiguredLogs } from '../certificate-logs/run.ts'
import { runChildProcess } from './child-process.ts'
import { type CertificateLogsOrder, isCertificateLogsCommand } from './messages.ts'

/** Lower priority than the workers, because names may come a minute later. */
const CERTIFICATE_LOGS_NICENESS = 5

runChildProcess<CertificateLogsOrder>({
  isOwnMessage: isCertificateLogsCommand,
  run({ settings }, log, signal) {
    setPriority(CERTIFICATE_LOGS_NICENESS)
    return follow(settings, log, signal)
  },
  logFatal(log, error) {
    const isPlain = error instanceof CommandFault || error instanceof StoreFault
    const message = isPlain ? error.message : userMessageOf(error)
    if (message === null) log.fatal({ err: error }, 'certificate logs failed')
    else log.fatal(`certificate logs failed: ${message}`)
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
