/** The indexer of `serve`: a process that keeps the index of /similar, as its primary says, and ends when that is gone. */

import { setPriority } from 'node:os'
import type { Logger } from 'pino'
import type { Settings } from '../../config/settings.ts'
import { errorText } from '../../jobs/job-lock.ts'
import { runIndexer, type Progress } from '../../similar/index/run-indexer.ts'
import { processHolderName } from '../../store/named-lock.ts'
import { userMessageOf, StoreFault } from '../../store/port/fault.ts'
import { openStore } from '../../store/open.ts'
import { SYSTEM_CLOCK } from '../system-clock.ts'
import { logDiskSpace, diskSpaceOf } from '../disk-space.ts'
import { type IndexOrder, isIndexCommand } from './messages.ts'
import { runChildProcess } from './child-process.ts'

/** Behind what answers requests, before what builds files: the index should follow within seconds. */
const INDEXER_NICENESS = 5

runChildProcess<IndexOrder>({
  isOwnMessage: isIndexCommand,
  run({ settings }, log, signal) {
    setPriority(INDEXER_NICENESS)
    return runIndexer(settings, log, signal)
  },
  logFatal(log, error) {
    if (isPlainStoreError(error)) log.fatal(`the indexer ends: ${errorText(error)}`)
    else log.fatal({ err: error }, 'the indexer ends')
  },
})

async function runIndexer(settings: Settings, log: Logger, signal: AbortSignal): Promise<void> {
  const { store: url, secret, pool } = settings
  const store = await openStore(url, { access: 'write', ledger: 'own', secret, pool })
  const holder = processHolderName()
  const diskSpace = diskSpaceOf(settings, [], logDiskSpace(log, 'the index'))
  log.info({ holder }, 'the indexer begins')
  const reporter = {
    progress: ({ indexed: filed, hasPending: waiting, documents }: Progress) => log.debug({ filed, waiting, wordings: documents }, 'indexed'),
    failed: (error: unknown) => logIndexerFault(log, error),
  }
  try {
    await runIndexer({ store, holder, clock: SYSTEM_CLOCK, reporter, diskSpace }, signal)
  } finally {
    await store.close()
  }
  log.info('the indexer has ended')
}

function logIndexerFault(log: Logger, error: unknown): void {
  if (isPlainStoreError(error)) log.error(`the index waits: ${errorText(error)}`)
  else log.error({ err: error }, 'the indexer meets a fault')
}

function isPlainStoreError(error: unknown): boolean {
  return error instanceof StoreFault || userMessageOf(error) !== null
}
