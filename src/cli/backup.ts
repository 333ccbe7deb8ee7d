/** `domaindex backup`: copies the store to a folder while it is in use. */

import type { Command } from 'commander'
import { redactedStoreUrl } from '../store/engines.ts'
import { backupStore } from '../store/open.ts'
import { loadExistingStoreSettings } from './program/existing-store.ts'
import { printResult } from './program/print-result.ts'
import { startProgress } from './program/progress.ts'
import { listenForStop } from './program/stop-signal.ts'

const BACKUP_HELP = `
The folder must not exist. It appears when the copy is complete, verified and on disk. It holds the
secrets of the installation and the digests of its tokens: protect it as you protect the store. The
backup does not include the finished files (DOMAINDEX_FILES).`

export function defineBackup(command: Command): void {
  command
    .argument('<to>', 'the folder to create')
    .option('--json', 'print one JSON object: store, to')
    .addHelpText('after', BACKUP_HELP)
    .action(async (to: string, { json }: { json?: true }) => {
      const { store } = await loadExistingStoreSettings()
      const progress = startProgress('copying')
      const stop = listenForStop()
      try {
        await backupStore(store, to, (share) => progress.show(null, share), stop.signal)
        progress.end()
        printResult(json, { store: redactedStoreUrl(store), to }, [`backed up ${redactedStoreUrl(store)} to ${to}`])
      } finally {
        progress.end()
        stop.end()
      }
    })
}
