/** `domaindex check`: verifies the whole store, its schema and its ledger, and reports inconsistencies. */

import type { Command } from 'commander'
import type { CheckFault, Store } from '../store/port/store.ts'
import { withExistingStore } from './program/existing-store.ts'
import { startProgress } from './program/progress.ts'

/** Called for each fault when it is found: a badly damaged store may have more faults than fit in memory. */
type OnStoreFault = (fault: CheckFault) => void

export function defineCheck(command: Command): void {
  command
    .option('--json', 'print one JSON object: checked (rows), faults (table, key, problem)')
    .addHelpText(
      'after',
      '\nThe store may be in use. ' +
        'SQLite has more tables than PostgreSQL: compare the number of rows only within one engine.\n\n' +
        'Exit codes: 0 no faults, 1 faults were found, or the check failed.',
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      const faults: CheckFault[] = []
      const onFault: OnStoreFault = json ? (fault) => void faults.push(fault) : printStoreFault
      const { checked, found } = await withExistingStore('read', (store) => checkStore(store, onFault))
      if (json) console.log(JSON.stringify({ checked, faults }))
      else console.log(`checked ${checked} rows, faults ${found}`)
      if (found > 0) process.exitCode = 1
    })
}

async function checkStore({ maintenance }: Store, onFault: OnStoreFault): Promise<{ checked: number; found: number }> {
  const progress = startProgress('rows')
  const report = { checked: 0, found: 0 }
  let resume: string | null = null
  do {
    const { faults, checked, next } = await maintenance.check(resume)
    report.checked += checked
    report.found += faults.length
    if (faults.length > 0) progress.end()
    faults.forEach(onFault)
    progress.show(report.checked, null)
    resume = next
  } while (resume !== null)
  progress.end()
  return report
}

/** Prints a fault. Escapes control characters, because a damaged row may contain any bytes. */
function printStoreFault({ table, key, problem }: CheckFault): void {
  console.log(`${table} ${key}: ${problem}`.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1)))
}
