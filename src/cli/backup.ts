/** `domaindex backup`: copies the store to a folder while it is in use. */

import type { Command } from 'commander'
import { backupStore } from '../store/open.ts'
import { redactedStoreUrl } from '../store/port/url.ts'
import { loadExistingStoreSettings } from './program/existing-store.ts'
import { printResult } from './program/print-result.ts'
import { startProgress } from './program/progress.ts'
import { listenForStop } from './program/stop-signal.ts'

const BACKUP_HELP = `
The folder must not be there yet; it appears when the copy is whole, verified and on disk. It holds the secrets of the
installation and the digests of its tokens: keep it as safe as the store. The finished files (DOMAINDEX_FILES) are not in it.`

export function defineBackup(command: Command): void {
  command
    .argument('<to>', 'the folder that is made')
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
