/** `domaindex retarget`: applies the public suffix list of this version to the stored redirect targets. */

import { createRequire } from 'node:module'
import type { Command } from 'commander'
import { type RetargetProgress, retargetAll } from '../store/retarget.ts'
import { withExistingStore } from './program/existing-store.ts'
import { startProgress } from './program/progress.ts'
import { listenForStop } from './program/stop-signal.ts'

const RETARGET_HELP = `
The store keeps the host where each redirect ended. The redirect target is the registrable domain of
that host, by the public suffix list of the version that stored it. After an upgrade, this command
recomputes all targets and their counters. Names whose target changes become due at once. The store
may be in use. Ctrl-C stops it; run it again to continue.

Exit codes: 0 all names were checked, 1 it failed or was stopped, 2 wrong usage.`

export function defineRetarget(command: Command): void {
  command
    .option('--json', 'print one JSON object: checked and changed (names), done, resumed, list')
    .addHelpText('after', RETARGET_HELP)
    .action(({ json = false }: { json?: boolean }) => runRetarget(json))
}

async function runRetarget(json: boolean): Promise<void> {
  const stop = listenForStop()
  const progress = startProgress('names')
  const list = `tldts ${createRequire(import.meta.url)('tldts/package.json').version}`
  try {
    const onProgress = ({ checked, changed }: RetargetProgress, share: number) =>
      progress.show(checked, share, { more: `${changed} changed` })
    const options = { list, signal: stop.signal, onProgress }
    const { checked, changed, done, resumedAt } = await withExistingStore('write', (store) =>
      retargetAll(store, options),
    )
    progress.end()
    const resumed = resumedAt !== null
    if (json) console.log(JSON.stringify({ checked, changed, done, resumed, list }))
    else
      console.log(`checked ${checked} names, changed ${changed} targets${resumed ? ' (continued an earlier run)' : ''}`)
    if (!done) {
      console.error('stopped before the end; run it again to continue')
      process.exitCode = 1
    }
  } finally {
    progress.end()
    stop.end()
  }
}
