/** `domaindex migrate`: migrates an older store to this version. */

import type { Command } from 'commander'
import { migrateStore } from '../store/open.ts'
import { loadExistingStoreSettings } from './program/existing-store.ts'
import { printResult } from './program/print-result.ts'

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
