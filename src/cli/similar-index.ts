/** `domaindex index`: updates the /similar index once, if no server maintains it. */

import type { Command } from 'commander'
import { CommandFault } from '../config/command-fault.ts'
import { loadSettings } from '../config/settings.ts'
import { diskSpaceOf, printDiskSpace } from '../server/disk-space.ts'
import { SYSTEM_CLOCK } from '../server/system-clock.ts'
import { indexOnce } from '../similar/index/run-indexer.ts'
import type { IndexProgress } from '../similar/index/similar-indexer.ts'
import { processHolderName } from '../store/named-lock.ts'
import type { Store } from '../store/port/store.ts'
import { withExistingStore } from './program/existing-store.ts'
import { printResult } from './program/print-result.ts'
import { startProgress } from './program/progress.ts'
import { listenForStop } from './program/stop-signal.ts'

const INDEX_HELP = `
domaindex serve updates the index within seconds of new observations (DOMAINDEX_INDEX). This command
updates it once, for a store without a running server. The store may be in use. Ctrl-C stops it; run
it again to continue.

Exit codes: 0 the index is complete, 1 it failed, or another process maintains the index.`

export function defineIndex(command: Command): void {
  command
    .option('--json', 'print one JSON object: pages, documents, stopped')
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
    progress: ({ indexed, documents }: IndexProgress) =>
      progress.show(indexed, null, { more: `${documents} documents` }),
  }
  try {
    const done = await indexOnce(
      { store, holder: processHolderName(), clock: SYSTEM_CLOCK, reporter, diskSpace },
      stop.signal,
    )
    progress.end()
    if (done === null) throw new CommandFault(await lockTakenMessage(store))
    const object = { pages: done.indexed, documents: done.documents, stopped: stop.signal.aborted }
    printResult(json, object, [indexSummary(done, progress.seconds())])
    if (stop.signal.aborted) console.error('stopped before the end; run it again to continue')
  } catch (error) {
    if (!stop.signal.aborted) throw error
    console.error('stopped while it waited for disk space; run it again to continue')
  } finally {
    progress.end()
    stop.end()
  }
}

async function lockTakenMessage({ jobs }: Store): Promise<string> {
  const holder = (await jobs.lockHolders()).find(({ name }) => name === 'index')?.holder ?? 'another process'
  return `${holder} maintains the index (domaindex serve), so this command has nothing to do`
}

function indexSummary({ indexed, documents }: IndexProgress, seconds: number): string {
  const rate = Math.round(seconds > 0 ? indexed / seconds : 0)
  return `indexed ${indexed} pages, ${documents} documents (${seconds.toFixed(1)} s, ${rate} pages/s)`
}
