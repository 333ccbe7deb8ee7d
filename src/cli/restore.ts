/** `domaindex restore`: makes a store out of a backup. */

import type { Command } from 'commander'
import { loadSettings } from '../config/settings.ts'
import { restoreStore } from '../store/open.ts'
import { redactedStoreUrl } from '../store/port/url.ts'
import { printResult } from './program/print-result.ts'
import { startProgress } from './program/progress.ts'

const RESTORE_HELP = `
The store is made where DOMAINDEX_STORE says; one that is there is never overwritten. A backup of an older release is
restored as it is: run domaindex migrate after it.`

export function defineRestore(command: Command): void {
  command
    .argument('<from>', 'the folder that domaindex backup made')
    .option('--json', 'print one JSON object: store, from')
    .addHelpText('after', RESTORE_HELP)
    .action(async (from: string, { json }: { json?: true }) => {
      const { store } = loadSettings()
      const progress = startProgress('restoring')
      try {
        await restoreStore(from, store, (share) => progress.show(null, share))
        progress.end()
        printResult(json, { store: redactedStoreUrl(store), from }, [
          `restored ${redactedStoreUrl(store)} from ${from}`,
        ])
      } finally {
        progress.end()
      }
    })
}
