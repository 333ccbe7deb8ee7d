/** `domaindex index`: brings the index of /similar up to date once, where no server keeps it. */

import type { Command } from 'commander'
import { loadSettings } from '../config/settings.ts'
import { indexOnce, type Progress } from '../similar/index/run-indexer.ts'
import { processHolderName } from '../store/named-lock.ts'
import type { Store } from '../store/port/store.ts'
import { SYSTEM_CLOCK } from '../server/system-clock.ts'
import { CommandFault } from '../config/command-fault.ts'
import { startProgress } from './program/progress.ts'
import { printResult } from './program/print-result.ts'
import { diskSpaceOf, printDiskSpace } from '../server/disk-space.ts'
import { listenForStop } from './program/stop-signal.ts'
import { withExistingStore } from './program/existing-store.ts'

const INDEX_HELP = `
domaindex serve keeps the index by itself, within seconds of what comes in (DOMAINDEX_INDEX); this does it once, for a store that no
server keeps, or ahead of the first one. It works beside whoever reads and writes. Ctrl-C stops it; run again, it goes on with what is left.

Exit codes: 0 everything is in the index, 1 it failed, or another process keeps the index.`

export function defineIndex(command: Command): void {
  command
    .option('--json', 'print one JSON object: filed, texts, stopped')
    .addHelpText('after', INDEX_HELP)
    .action(({ json }: { json?: true }) => withExistingStore('write', (store) => indexAllPages(store, json)))
}

async function indexAllPages(store: Store, json: true | undefined): Promise<void> {
  const diskSpace = diskSpaceOf(
    loadSettings(() => {}),
    [],
    printDiskSpace,
  )
  const stop = listenForStop()
  const progress = startProgress('pages')
  const reporter = {
    progress: ({ indexed: filed, documents }: Progress) => progress.show(filed, null, { more: `${documents} texts` }),
  }
  try {
    const done = await indexOnce({ store, holder: processHolderName(), clock: SYSTEM_CLOCK, reporter, diskSpace }, stop.signal)
    progress.end()
    if (done === null) throw new CommandFault(await lockTakenMessage(store))
    const object = { filed: done.indexed, texts: done.documents, stopped: stop.signal.aborted }
    printResult(json, object, [indexSummary(done, progress.seconds())])
    if (stop.signal.aborted) console.error('stopped before the end; run it again to go on')
  } catch (error) {
    if (!stop.signal.aborted) throw error
    console.error('stopped while it waited for room; run it again to go on')
  } finally {
    progress.end()
    stop.end()
  }
}

async function lockTakenMessage({ jobs }: Store): Promise<string> {
  const holder = (await jobs.lockHolders()).find(({ name }) => name === 'index')?.holder ?? 'another process'
  return `${holder} keeps the index (domaindex serve): it follows by itself, and nothing is to be done here`
}

function indexSummary({ indexed: filed, documents }: Progress, seconds: number): string {
  const rate = Math.round(seconds > 0 ? filed / seconds : 0)
  return `filed ${filed}, texts ${documents} (${seconds.toFixed(1)} s, ${rate} pages/s)`
}
