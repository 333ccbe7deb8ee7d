/** `domaindex check`, `retarget` and `rotate-secret`: reads or mends the content of a store. */

import { createRequire } from 'node:module'
import type { Command } from 'commander'
import { repairStore } from '../../repair/repair.ts'
import { SYSTEM_CLOCK } from '../../server/system-clock.ts'
import { processHolderName } from '../../store/named-lock.ts'
import type { CheckFault, Store } from '../../store/port/store.ts'
import { type RetargetProgress, retargetAll } from '../../store/retarget.ts'
import { actorOf } from '../../store/shared/actor.ts'
import { FORMER_SECRET_SECONDS } from '../../store/shared/secrets.ts'
import { withExistingStore } from '../program/existing-store.ts'
import { listenForStop, printResult, startProgress } from '../program/output.ts'

const RETARGET_HELP = `
The store keeps the host where each redirect ended. The redirect target is the registrable domain of
that host, by the public suffix list of the version that stored it. After an upgrade, this command
recomputes all targets and their counters. Names whose target changes become due at once. The store
may be in use. Ctrl-C stops it; run it again to continue.

Exit codes: 0 all names were checked, 1 it failed or was stopped, 2 wrong usage.`

const CHECK_HELP = `
The store may be in use. SQLite has more tables than PostgreSQL: compare the number of rows only
within one engine.

--repair writes again what follows from the facts: lists, counters and dates of addresses and
redirects, the counters of certificates, the list of names, and the indexes. It says what it cannot
repair and what to do then. It works in slices beside readers and writers; only the indexes need that
no server maintains them. Ctrl-C stops it; run it again to continue. Take a backup first.

Exit codes: 0 no fault is left, 1 faults are left, or the check failed or was stopped.`

/** Called for each fault when it is found: a badly damaged store may have more faults than fit in memory. */
type OnStoreFault = (fault: CheckFault) => void

export function defineCheck(command: Command): void {
  command
    .option('--repair', 'mend what follows from the facts, and check again')
    .option(
      '--json',
      'print one JSON object: checked (rows), faults (table, key, problem); with --repair also repaired and left (with todo)',
    )
    .addHelpText('after', CHECK_HELP)
    .action(async ({ json = false, repair = false }: { json?: boolean; repair?: boolean }) => {
      if (repair) return runRepair(json)
      const faults: CheckFault[] = []
      const onFault: OnStoreFault = json ? (fault) => void faults.push(fault) : (fault) => printStoreFault(fault)
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

async function runRepair(json: boolean): Promise<void> {
  const stop = listenForStop()
  const progress = startProgress('rows')
  const repaired: CheckFault[] = []
  const onRepaired = (fault: CheckFault): void => {
    progress.end()
    if (json) repaired.push(fault)
    else printStoreFault(fault, 'repaired ')
  }
  const onProgress = (checked: number): void => progress.show(checked, null)
  const base = { holder: processHolderName(), clock: SYSTEM_CLOCK, onRepaired, onProgress }
  try {
    const result = await withExistingStore('write', (store) => repairStore({ store, ...base }, stop.signal))
    progress.end()
    const { checked, left, isStopped } = result
    const found = result.repaired + left.length
    if (json) {
      const faults = [...repaired, ...left.map(({ todo: _, ...fault }) => fault)]
      console.log(JSON.stringify({ checked, faults, repaired, left }))
    } else {
      for (const { todo, ...fault } of left) printStoreFault(fault, 'left ', `: ${todo}`)
      console.log(`checked ${checked} rows, faults ${found}, repaired ${result.repaired}, left ${left.length}`)
    }
    if (isStopped) console.error('stopped before the end; run it again to continue')
    if (isStopped || left.length > 0) process.exitCode = 1
  } finally {
    progress.end()
    stop.end()
  }
}

/** Prints a fault. Escapes control characters, because a damaged row may contain any bytes. */
function printStoreFault({ table, key, problem }: CheckFault, before = '', after = ''): void {
  const line = `${before}${table} ${key}: ${problem}${after}`
  console.log(line.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1)))
}

/** `domaindex rotate-secret`: replaces the secret of the installation. The previous secret stays valid for 24 hours. */
export function defineRotateSecret(command: Command): void {
  command
    .addHelpText('after', '\nExisting cursors stay valid until they expire. Running servers pick up the new secret.')
    .option('--json', 'print one JSON object: honoured_seconds, how long the previous secret stays valid')
    .action(({ json }: { json?: true }) =>
      withExistingStore('read', async ({ ledger, now }) => {
        await ledger.as(actorOf('domaindex rotate-secret')).rotateSecret(await now())
        const message = 'the installation has a new secret; the previous one stays valid for 24 hours'
        printResult(json, { honoured_seconds: FORMER_SECRET_SECONDS }, [message])
      }),
    )
}

/** `domaindex retarget`: applies the public suffix list of this version to the stored redirect targets. */
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
