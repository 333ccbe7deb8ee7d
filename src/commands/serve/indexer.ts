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
import { openLog } from './log.ts'
import { type IndexOrder, isIndexCommand } from './messages.ts'

/** Behind what answers requests, before what builds files: the index should follow within seconds. */
const NICE = 5

const ended = new AbortController()

/** The primary ends it: a signal to the whole group must not make it end before its time. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})

process.on('disconnect', () => ended.abort())
process.on('message', (message) => {
  if (!isIndexCommand(message)) return
  if (message.do === 'keep') void keep(message.order)
  else ended.abort()
})

async function keep({ settings }: IndexOrder): Promise<void> {
  const { log, flush } = openLog(settings.logLevel)
  const fail = (error: unknown): void => {
    if (isPlain(error)) log.fatal(`the indexer ends: ${wordsOf(error)}`)
    else log.fatal({ err: error }, 'the indexer ends')
    flush()
    process.exit(1)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
  setPriority(NICE)
  await keepFor(settings, log).catch(fail)
  flush()
  process.exit(0)
}

async function keepFor({ store: url, secret, pool }: Settings, log: Logger): Promise<void> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret, pool })
  const holder = holderName()
  log.info({ holder }, 'the indexer begins')
  const tell = {
    progress: ({ filed, waiting, wordings }: Progress) => log.debug({ filed, waiting, wordings }, 'indexed'),
    failed: (error: unknown) => tellFault(log, error),
  }
  try {
    await keepIndex({ store, holder, clock: CLOCK, tell }, ended.signal)
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
