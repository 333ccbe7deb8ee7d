/** The indexer of `serve`: a process that keeps the index of /similar, as its primary says, and ends when that is gone. */

import { setPriority } from 'node:os'
import type { Logger } from 'pino'
import type { Settings } from '../../config.ts'
import { wordsOf } from '../../nightly/duty.ts'
import { keepIndex, type Progress } from '../../retrieval/indexer.ts'
import { holderName } from '../../store/duty.ts'
import { plainWords, StoreFault } from '../../store/fault.ts'
import { openStore } from '../../store/open.ts'
import { CLOCK } from '../clock.ts'
import { pauseTeller, roomOf } from '../room.ts'
import { type IndexOrder, isIndexCommand } from './messages.ts'
import { runBeside } from './side.ts'

/** Behind what answers requests, before what builds files: the index should follow within seconds. */
const NICE = 5

runBeside<IndexOrder>({
  isMine: isIndexCommand,
  work({ settings }, log, signal) {
    setPriority(NICE)
    return keep(settings, log, signal)
  },
  tellFatal(log, error) {
    if (isPlain(error)) log.fatal(`the indexer ends: ${wordsOf(error)}`)
    else log.fatal({ err: error }, 'the indexer ends')
  },
})

async function keep(settings: Settings, log: Logger, signal: AbortSignal): Promise<void> {
  const { store: url, secret, pool } = settings
  const store = await openStore(url, { access: 'write', ledger: 'own', secret, pool })
  const holder = holderName()
  const room = roomOf(settings, [], pauseTeller(log, 'the index'))
  log.info({ holder }, 'the indexer begins')
  const tell = {
    progress: ({ filed, waiting, wordings }: Progress) => log.debug({ filed, waiting, wordings }, 'indexed'),
    failed: (error: unknown) => tellFault(log, error),
  }
  try {
    await keepIndex({ store, holder, clock: CLOCK, tell, room }, signal)
  } finally {
    await store.close()
  }
  log.info('the indexer has ended')
}

function tellFault(log: Logger, error: unknown): void {
  if (isPlain(error)) log.error(`the index waits: ${wordsOf(error)}`)
  else log.error({ err: error }, 'the indexer meets a fault')
}

function isPlain(error: unknown): boolean {
  return error instanceof StoreFault || plainWords(error) !== null
}
