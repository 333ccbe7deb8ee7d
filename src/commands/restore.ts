/** `domaindex restore`: makes a store out of a backup. */

import type { Command } from 'commander'
import { loadSettings } from '../config.ts'
import { restoreStore } from '../store/open.ts'
import { shown } from '../store/url.ts'
import { progressOf } from './progress.ts'
import { print } from './result.ts'

const HELP = `
The store is made where DOMAINDEX_STORE says; one that is there is never overwritten. A backup of an older release is
restored as it is: run domaindex migrate after it.`

export function define(command: Command): void {
  command
    .argument('<from>', 'the folder that domaindex backup made')
    .option('--json', 'print one JSON object: store, from')
    .addHelpText('after', HELP)
    .action(async (from: string, { json }: { json?: true }) => {
      const { store } = loadSettings()
      const progress = progressOf('restoring')
      try {
        await restoreStore(from, store, (share) => progress.show(null, share))
        progress.end()
        print(json, { store: shown(store), from }, [`restored ${shown(store)} from ${from}`])
      } finally {
        progress.end()
      }
    })
}
