/** The night of `serve`: a process that builds files at night, as its primary says, and ends when that is gone. */

import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { Logger } from 'pino'
import type { Settings } from '../../config.ts'
import { doStep, lookAround } from '../../nightly/deeds.ts'
import { wordsOf } from '../../nightly/duty.ts'
import { BuildFault } from '../../nightly/fault.ts'
import type { Report } from '../../nightly/inbox.ts'
import { type Night, runNights } from '../../nightly/night.ts'
import { holderName } from '../../store/duty.ts'
import { plainWords, StoreFault } from '../../store/fault.ts'
import { openStore } from '../../store/open.ts'
import { CLOCK } from '../clock.ts'
import { worksOf } from '../works.ts'
import { openLog } from './log.ts'
import { isNightCommand, type NightOrder } from './messages.ts'

/** Behind everything that answers requests. */
const NICE = 10

const ended = new AbortController()

/** The primary ends it: a signal to the whole group must not make it end before its time. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})

process.on('disconnect', () => ended.abort())
process.on('message', (message) => {
  if (!isNightCommand(message)) return
  if (message.do === 'watch') void watch(message.order)
  else ended.abort()
})

async function watch({ settings }: NightOrder): Promise<void> {
  const { log, flush } = openLog(settings.logLevel)
  const fail = (error: unknown): void => {
    log.fatal({ err: error }, 'the night ends')
    flush()
    process.exit(1)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
  lowerPriority()
  await watchFor(settings, log).catch(fail)
  flush()
  process.exit(0)
}

async function watchFor(settings: Settings, log: Logger): Promise<void> {
  const { store: url, secret, pool, night: times, followupWait: cutoff } = settings
  const store = await openStore(url, { access: 'write', ledger: 'own', secret, pool })
  const holder = holderName()
  const works = worksOf(settings, store, (report) => tellReport(log, report))
  const night: Night = {
    store,
    holder,
    clock: CLOCK,
    look: async () => ({ ...(await lookAround(works)), times: times!, cutoff }),
    make: (step, hand) => doStep(works, step, hand, { onRows: () => {} }),
    tell: tellerOf(log),
  }
  log.info({ holder }, 'the night watch begins')
  try {
    await runNights(night, ended.signal)
  } finally {
    await store.close()
  }
  log.info('the night watch has ended')
}

/** Of every thread: what packs begins with the priority of the one that starts it. */
function lowerPriority(): void {
  setPriority(NICE)
  if (process.platform !== 'linux') return
  for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), NICE)
}

function tellerOf(log: Logger): Night['tell'] {
  return {
    made: (step, { rows, words, held }) => log[held ? 'warn' : 'info']({ ...step, rows }, words ?? 'done'),
    failed(step, error) {
      const isPlain = error instanceof BuildFault || error instanceof StoreFault || plainWords(error) !== null
      if (isPlain) log.error({ ...step }, wordsOf(error))
      else log.error({ ...step, err: error }, 'the night meets a fault')
    },
  }
}

function tellReport(log: Logger, report: Report): void {
  const { file, outcome } = report
  if (report.outcome === 'done')
    log.info({ file, names: report.taken.names, registered: report.taken.registered }, 'taken')
  else log[outcome === 'failed' ? 'error' : 'info']({ file }, report.reason)
}
