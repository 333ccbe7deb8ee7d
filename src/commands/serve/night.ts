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
import { patientStore } from '../../store/disk-room.ts'
import { holderName } from '../../store/duty.ts'
import { plainWords, StoreFault } from '../../store/fault.ts'
import { openStore } from '../../store/open.ts'
import { CLOCK } from '../clock.ts'
import { pauseTeller, roomOf } from '../room.ts'
import { worksOf } from '../works.ts'
import { isNightCommand, type NightOrder } from './messages.ts'
import { runBeside } from './side.ts'

/** Behind everything that answers requests. */
const NICE = 10

runBeside<NightOrder>({
  isMine: isNightCommand,
  work({ settings }, log, signal) {
    lowerPriority()
    return watch(settings, log, signal)
  },
  tellFatal: (log, error) => log.fatal({ err: error }, 'the night ends'),
})

async function watch(settings: Settings, log: Logger, signal: AbortSignal): Promise<void> {
  const { store: url, secret, pool, night: times, followupWait: cutoff } = settings
  const store = await openStore(url, { access: 'write', ledger: 'own', secret, pool })
  const holder = holderName()
  const room = roomOf(settings, [settings.files, settings.zones], pauseTeller(log, 'the night'))
  const works = worksOf(settings, patientStore(store, room, signal), (report) => tellReport(log, report), room)
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
    await runNights(night, signal)
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
