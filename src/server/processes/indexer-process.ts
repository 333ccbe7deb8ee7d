/** The indexer process of `serve`: maintains the /similar index and the inverse index. */

import { setPriority } from 'node:os'
import type { Logger } from 'pino'
import type { Settings } from '../../config/settings.ts'
import { type InverseIndexProgress, runInverseMaintenance } from '../../inverse/maintainer.ts'
import { runIndexer } from '../../similar/index/run-indexer.ts'
import type { IndexProgress } from '../../similar/index/similar-indexer.ts'
import { processHolderName } from '../../store/named-lock.ts'
import { openStore } from '../../store/open.ts'
import { diskSpaceOf, logDiskSpace } from '../disk-space.ts'
import { SYSTEM_CLOCK } from '../system-clock.ts'
import { plainMessageOf, runChildProcess } from './child-process.ts'

/** Lower priority than the workers, higher than jobs, because the index should be current within seconds. */
const INDEXER_NICENESS = 5

runChildProcess({
  name: 'indexer',
  run({ settings }, log, signal) {
    setPriority(INDEXER_NICENESS)
    return maintainIndex(settings, log, signal)
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
  const inverseReporter = {
    progress: ({ share, runs, blocks }: InverseIndexProgress) =>
      log.debug({ share, runs, blocks }, 'inverse index merged'),
    failed: reporter.failed,
  }
  try {
    const run = { store, holder, clock: SYSTEM_CLOCK, diskSpace }
    await Promise.all([
      runIndexer({ ...run, reporter }, signal),
      runInverseMaintenance({ ...run, reporter: inverseReporter }, signal),
    ])
  } finally {
    await store.close()
  }
  log.info('indexer stopped')
}

function logIndexerFault(log: Logger, error: unknown): void {
  const message = plainMessageOf(error)
  if (message === null) log.error({ err: error }, 'indexer error')
  else log.error(`indexer paused: ${message}`)
}
