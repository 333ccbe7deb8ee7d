/** `domaindex check`: recounts the whole store, its schema and its ledger, and says what does not fit together. */

import type { Command } from 'commander'
import type { CheckFault, Store } from '../store/port/store.ts'
import { withExistingStore } from './program/existing-store.ts'
import { startProgress } from './program/progress.ts'

/** Told of each fault as it is found: a badly damaged store has more of them than fit in memory. */
type OnStoreFault = (fault: CheckFault) => void

export function defineCheck(command: Command): void {
  command
    .option('--json', 'print one JSON object: checked (rows), faults (table, key, problem)')
    .addHelpText(
      'after',
      '\nThe store may be in use. The number is of rows of tables, of which SQLite has more than PostgreSQL: compare it within one engine.\n\n' +
        'Exit codes: 0 nothing is wrong, 1 something is, or the check failed.',
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      const kept: CheckFault[] = []
      const onFault: OnStoreFault = json ? (fault) => void kept.push(fault) : printStoreFault
      const { checked, found } = await withExistingStore('read', (store) => checkStore(store, onFault))
      if (json) console.log(JSON.stringify({ checked, faults: kept }))
      else console.log(`checked ${checked} rows, faults ${found}`)
      if (found > 0) process.exitCode = 1
    })
}

async function checkStore(
  { maintenance: archive }: Store,
  onFault: OnStoreFault,
): Promise<{ checked: number; found: number }> {
  const progress = startProgress('rows')
  const report = { checked: 0, found: 0 }
  let resume: string | null = null
  do {
    const { faults, checked, next } = await archive.check(resume)
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

/** What a damaged row holds may be anything: control characters are written out. */
function printStoreFault({ table, key, problem }: CheckFault): void {
  console.log(`${table} ${key}: ${problem}`.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1)))
}
