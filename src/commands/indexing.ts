/** `domaindex index`: brings the index of /similar up to date once, where no server keeps it. */

import type { Command } from 'commander'
import { loadSettings } from '../config.ts'
import { indexOnce, type Progress } from '../retrieval/indexer.ts'
import { holderName } from '../store/duty.ts'
import type { Store } from '../store/store.ts'
import { CLOCK } from './clock.ts'
import { CommandFault } from './fault.ts'
import { progressOf } from './progress.ts'
import { print } from './result.ts'
import { roomOf, sayPause } from './room.ts'
import { listenForStop } from './stop.ts'
import { withStore } from './store.ts'

const HELP = `
domaindex serve keeps the index by itself, within seconds of what comes in (DOMAINDEX_INDEX); this does it once, for a store that no
server keeps, or ahead of the first one. It works beside whoever reads and writes. Ctrl-C stops it; run again, it goes on with what is left.

Exit codes: 0 everything is in the index, 1 it failed, or another process keeps the index.`

export function define(command: Command): void {
  command
    .option('--json', 'print one JSON object: filed, texts, stopped')
    .addHelpText('after', HELP)
    .action(({ json }: { json?: true }) => withStore('write', (store) => indexAll(store, json)))
}

async function indexAll(store: Store, json: true | undefined): Promise<void> {
  const room = roomOf(
    loadSettings(() => {}),
    [],
    sayPause,
  )
  const stop = listenForStop()
  const progress = progressOf('pages')
  const tell = {
    progress: ({ filed, wordings }: Progress) => progress.show(filed, null, { more: `${wordings} texts` }),
  }
  try {
    const done = await indexOnce({ store, holder: holderName(), clock: CLOCK, tell, room }, stop.signal)
    progress.end()
    if (done === null) throw new CommandFault(await takenWords(store))
    const object = { filed: done.filed, texts: done.wordings, stopped: stop.signal.aborted }
    print(json, object, [summary(done, progress.seconds())])
    if (stop.signal.aborted) console.error('stopped before the end; run it again to go on')
  } catch (error) {
    if (!stop.signal.aborted) throw error
    console.error('stopped while it waited for room; run it again to go on')
  } finally {
    progress.end()
    stop.end()
  }
}

async function takenWords({ jobs }: Store): Promise<string> {
  const holder = (await jobs.holders()).find(({ duty }) => duty === 'index')?.holder ?? 'another process'
  return `${holder} keeps the index (domaindex serve): it follows by itself, and nothing is to be done here`
}

function summary({ filed, wordings }: Progress, seconds: number): string {
  const rate = Math.round(seconds > 0 ? filed / seconds : 0)
  return `filed ${filed}, texts ${wordings} (${seconds.toFixed(1)} s, ${rate} pages/s)`
}
