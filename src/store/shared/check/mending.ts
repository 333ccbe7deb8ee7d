/** What a repair of rows needs of the check: the faults by repair, the keys in them, and what follows from sound facts. */

import type { DomainName } from '../../../values/domain-name.ts'
import { packAddress, packToHex } from '../../../values/ip-address.ts'
import type { CheckFault } from '../../port/store.ts'
import { type CheckedFacts, type DerivedRows, derivedRowsOf } from './facts.ts'
import { findingOf, type Repair, repairOf } from './findings.ts'
import { checkFactsRows } from './rows.ts'
import { isUnreadable } from './unreadable.ts'

/** The faults that each repair mends. */
export function faultsByRepair(faults: readonly CheckFault[]): Map<Repair, CheckFault[]> {
  const mendable = faults.filter((fault) => repairOf(fault) !== null)
  return Map.groupBy(mendable, (fault) => repairOf(fault)!)
}

/** The keys of faults, each once. */
export function keysOf(faults: readonly CheckFault[] = []): string[] {
  return [...new Set(faults.map(({ key }) => key))]
}

/** A row that names share: in `presence`, `key` is an address in hexadecimal, otherwise a redirect target. */
export type SharedRowKey = { table: 'presence' | 'redirect'; key: string; name: DomainName }

/** The row of a fault in `presence` or `redirect`, or the counter of one; a counter has no name. */
export function sharedRowOf({ table, key }: CheckFault): SharedRowKey {
  const [shared = '', name = ''] = key.split(' ')
  const isAddress = table === 'presence' || table === 'address_count'
  return { table: isAddress ? 'presence' : 'redirect', key: shared, name: name as DomainName }
}

/** Whether a row that names share follows from the facts of its name. */
export function hasSharedRow(
  { addresses, redirectsTo }: DerivedRows,
  { table, key }: Pick<SharedRowKey, 'table' | 'key'>,
): boolean {
  return table === 'presence' ? addresses.some((address) => packToHex(address) === key) : redirectsTo === key
}

/** The rows that follow from the facts of a name; null if the facts are damaged themselves. */
export function soundRowsOf(row: CheckedFacts | undefined): DerivedRows | null {
  if (row === undefined || row.stateId !== row.id) return null
  const { faults } = checkFactsRows([row.id], undefined, [row])
  if (faults.some((fault) => findingOf(fault).losesFacts)) return null
  try {
    const rows = derivedRowsOf(row)
    for (const address of [...rows.firstSeen.keys(), ...rows.addresses]) packAddress(address)
    return rows
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return null
  }
}
