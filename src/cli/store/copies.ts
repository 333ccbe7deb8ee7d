/** `domaindex backup`, `restore`, `migrate` and `copy`: whole stores. */

import type { Command } from 'commander'
import { CommandFault } from '../../config/command-fault.ts'
import { loadSettings, type Settings } from '../../config/settings.ts'
import { recordBackup } from '../../store/backup-record.ts'
import { type ComparedTable, compareStores, copyRows } from '../../store/copy-rows.ts'
import { redactedStoreUrl } from '../../store/engines.ts'
import { backupStore, migrateStore, openBulkStore, restoreStore } from '../../store/open.ts'
import type { BulkStore } from '../../store/port/bulk.ts'
import { StoreFault } from '../../store/port/fault.ts'
import { type StoreLocation, storeUrlOf } from '../../store/port/url.ts'
import { loadExistingStoreSettings, withStore } from '../program/existing-store.ts'
import { listenForStop, printResult, startProgress } from '../program/output.ts'

const COPY_HELP = `
This copies the store DOMAINDEX_STORE to the store DOMAINDEX_STORE_TO, and creates that one if it
does not exist. First stop every process that writes to either store. If the copy is stopped, run it
again to continue. No other command opens the new store until the copy is complete. At the end, the
rows of every table are counted and compared. The copy does not include the /similar index: the
server of the new store, or domaindex index, builds it.

Exit codes: 0 both stores are equal, 1 they differ, or the copy failed.`

const STORES_DIFFER_MESSAGE =
  'the stores differ: a process wrote to one of them during the copy. Remove the new store and copy again'

const comparedTableLines = (tables: readonly ComparedTable[]): string[] =>
  tables.map(
    ({ table, rows, digest, differs }) => `${table}: ${rows} rows, ${digest}${differs ? `, but ${differs}` : ''}`,
  )

const RESTORE_HELP = `
This creates the store DOMAINDEX_STORE. It never overwrites an existing store. A backup of an older
version is restored unchanged: run domaindex migrate afterwards.`

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
      const settings = await loadExistingStoreSettings()
      const { store } = settings
      const progress = startProgress('copying')
      const stop = listenForStop()
      try {
        await backupStore(store, to, (share) => progress.show(null, share), stop.signal)
        progress.end()
        await recordIfPossible(settings)
        printResult(json, { store: redactedStoreUrl(store), to }, [`backed up ${redactedStoreUrl(store)} to ${to}`])
      } finally {
        progress.end()
        stop.end()
      }
    })
}

/** Records the backup for `doctor`. An older or read-only store does not keep the record. */
async function recordIfPossible(settings: Settings): Promise<void> {
  try {
    await withStore(settings, 'write', recordBackup)
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error
    console.error(`domaindex: the backup is complete, but the store does not record it: ${error.message}`)
  }
}

/** `domaindex restore`: creates a store from a backup. */
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

/** `domaindex migrate`: migrates an older store to this version. */
export function defineMigrate(command: Command): void {
  command
    .option('--plan', 'print the migrations without applying them')
    .option('--json', 'print one JSON object: plan, migrations')
    .action(async ({ plan = false, json }: { plan?: boolean; json?: true }) => {
      const report = (text: string): void => console.error(`domaindex: ${text}`)
      const migrations = await migrateStore((await loadExistingStoreSettings()).store, plan, report)
      const lines = migrations.map((name) => `${plan ? 'would apply' : 'applied'} ${name}`)
      printResult(json, { plan, migrations }, lines.length > 0 ? lines : ['the store is up to date'])
    })
}

/** `domaindex copy`: copies a whole store to another one of either engine, and compares the two. */
export function defineCopy(command: Command): void {
  command.option('--json', 'print one JSON object: from, to, tables (table, rows, digest, differs)')
  command.addHelpText('after', COPY_HELP).action(async ({ json }: { json?: true }) => {
    const { from, to } = sourceAndTarget(loadSettings())
    const source = await openBulkStore(from, 'read')
    try {
      const target = await openBulkStore(to, 'write')
      const tables = await copyStore(source, target).finally(() => target.close())
      if (tables === null) return
      printResult(json, { from: redactedStoreUrl(from), to: redactedStoreUrl(to), tables }, comparedTableLines(tables))
      if (tables.some(({ differs }) => differs)) throw new CommandFault(STORES_DIFFER_MESSAGE)
      if (!json) console.log(`copied ${redactedStoreUrl(from)} to ${redactedStoreUrl(to)}`)
    } finally {
      await source.close()
    }
  })
}

/** Throws CommandFault if no target is set, or if it is the source itself. */
function sourceAndTarget({ store: from, storeTo: to }: Settings): { from: StoreLocation; to: StoreLocation } {
  if (to === null) throw new CommandFault('name the store to copy to with DOMAINDEX_STORE_TO')
  if (storeUrlOf(to) === storeUrlOf(from))
    throw new CommandFault('DOMAINDEX_STORE and DOMAINDEX_STORE_TO name the same store')
  return { from, to }
}

/** Copies and compares all tables. Returns null if a signal stopped the copy. */
async function copyStore(source: BulkStore, target: BulkStore): Promise<ComparedTable[] | null> {
  const stop = listenForStop()
  const progress = startProgress('rows')
  const compared = startProgress('rows compared')
  try {
    if (!(await copyRows(source, target, stop.signal, progress.show))) {
      progress.end()
      console.error('stopped; run it again to continue')
      process.exitCode = 1
      return null
    }
    progress.end()
    const differences = await compareStores(source, target, stop.signal, compared.show)
    compared.end()
    if (differences === null) throw new CommandFault('stopped while comparing; run it again to continue')
    if (differences.every(({ differs }) => !differs)) await target.finish(await source.lastNumbers())
    return differences
  } finally {
    progress.end()
    compared.end()
    stop.end()
  }
}
