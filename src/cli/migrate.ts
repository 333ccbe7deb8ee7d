/** `domaindex migrate`: brings an older store up to this release. */

import type { Command } from 'commander'
import { migrateStore } from '../store/open.ts'
import { loadExistingStoreSettings } from './program/existing-store.ts'
import { printResult } from './program/print-result.ts'

export function defineMigrate(command: Command): void {
  command
    .option('--plan', 'only say what would be done')
    .option('--json', 'print one JSON object: plan, migrations')
    .action(async ({ plan = false, json }: { plan?: boolean; json?: true }) => {
      const report = (words: string): void => console.error(`domaindex: ${words}`)
      const migrations = await migrateStore((await loadExistingStoreSettings()).store, plan, report)
      const lines = migrations.map((name) => `${plan ? 'would apply' : 'applied'} ${name}`)
      printResult(json, { plan, migrations }, lines.length > 0 ? lines : ['the store is up to date'])
    })
}
