/** `domaindex restore`: creates a store from a backup. */

import type { Command } from 'commander'
import { loadSettings } from '../config/settings.ts'
import { redactedStoreUrl } from '../store/engines.ts'
import { restoreStore } from '../store/open.ts'
import { printResult } from './program/print-result.ts'
import { startProgress } from './program/progress.ts'

const RESTORE_HELP = `
This creates the store DOMAINDEX_STORE. It never overwrites an existing store. A backup of an older
version is restored unchanged: run domaindex migrate afterwards.`

export function defineRestore(command: Command): void {
  command
    .argument('<from>', 'a folder that domaindex backup created')
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
