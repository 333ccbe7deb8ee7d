/** The indexer process of `serve`: maintains the /similar index. */

import { setPriority } from 'node:os'
import type { Logger } from 'pino'
import type { Settings } from '../../config/settings.ts'
import { errorText } from '../../jobs/job-lock.ts'
import { runIndexer } from '../../similar/index/run-indexer.ts'
import type { IndexProgress } from '../../similar/index/similar-indexer.ts'
import { userMessageOf } from '../../store/engines.ts'
import { processHolderName } from '../../store/named-lock.ts'
import { openStore } from '../../store/open.ts'
import { StoreFault } from '../../store/port/fault.ts'
import { diskSpaceOf, logDiskSpace } from '../disk-space.ts'
import { SYSTEM_CLOCK } from '../system-clock.ts'
import { runChildProcess } from './child-process.ts'
import { type IndexOrder, isIndexCommand } from './messages.ts'

/** Lower priority than the workers, higher than jobs, because the index should be current within seconds. */
const INDEXER_NICENESS = 5

runChildProcess<IndexOrder>({
  isOwnMessage: isIndexCommand,
  run({ settings }, log, signal) {
    setPriority(INDEXER_NICENESS)
    return maintainIndex(settings, log, signal)
  },
  logFatal(log, error) {
    if (isPlainStoreError(error)) log.fatal(`indexer failed: ${errorText(error)}`)
    else log.fatal({ err: error }, 'indexer failed')
  },
})

async function maintainIndex(settings: Settings, log: Logger, signal: AbortSignal): Promise<void> {
  const { secret, pool } = settings
  const store = await openStore(settings.store, { access: 'write', ledger: 'own', secret, pool })
  const holder = processHolderName()
  const diskSpace = diskSpaceOf(settings, [], logDiskSpace(log))
  log.info({ holder }, 'indexer started')
  const reporter = {
    progress: ({ indexed, hasPending, documents }: IndexProgress) =>
      log.debug({ pages: indexed, hasPending, documents }, 'indexed'),
    failed: (error: unknown) => logIndexerFault(log, error),
  }
  try {
    await runIndexer({ store, holder, clock: SYSTEM_CLOCK, reporter, diskSpace }, signal)
  } finally {
    await store.close()
  }
  log.info('indexer stopped')
}

function logIndexerFault(log: Logger, error: unknown): void {
  if (isPlainStoreError(error)) log.error(`indexer paused: ${errorText(error)}`)
  else log.error({ err: error }, 'indexer error')
}

function isPlainStoreError(error: unknown): boolean {
  return error instanceof StoreFault || userMessageOf(error) !== null
}
