/** `domaindex backup`: copies the store to a folder while it is in use. */

import type { Command } from 'commander'
import { backupStore } from '../store/open.ts'
import { shown } from '../store/url.ts'
import { progressOf } from './progress.ts'
import { print } from './result.ts'
import { listenForStop } from './stop.ts'
import { settingsOfStore } from './store.ts'

const HELP = `
The folder must not be there yet; it appears when the copy is whole, verified and on disk. It holds the secrets of the
installation and the digests of its tokens: keep it as safe as the store. The finished files (DOMAINDEX_FILES) are not in it.`

export function define(command: Command): void {
  command
    .argument('<to>', 'the folder that is made')
    .option('--json', 'print one JSON object: store, to')
    .addHelpText('after', HELP)
    .action(async (to: string, { json }: { json?: true }) => {
      const { store } = await settingsOfStore()
      const progress = progressOf('copying')
      const stop = listenForStop()
      try {
        await backupStore(store, to, (share) => progress.show(null, share), stop.signal)
        progress.end()
        print(json, { store: shown(store), to }, [`backed up ${shown(store)} to ${to}`])
      } finally {
        progress.end()
        stop.end()
      }
    })
}
