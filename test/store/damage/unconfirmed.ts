/** The damage that nothing in a store contradicts, so that no check can find it. Each line says why. */

import type { RowDamage } from './random-damage.ts'

/** By table: the columns, or `*` for whole rows. */
const UNCONFIRMED: Readonly<Record<string, readonly string[]>> = {
  // written by every probe, and therefore without a checksum
  crawl_state: ['clock', 'other_clocks', 'registered', 'due', 'failures', 'version', 'web_fingerprint'],
  // a time before all states may be that of a state that was pruned
  address_first_seen: ['first_seen'],
  // an interruption between two different states leaves no trace in the index
  dns_interruption: ['*'],
  // only a count of all documents would show that a row of the index is missing, or belongs to another document
  document: ['number', '*'],
  page_document: ['document', '*'],
  posting: ['*'],
  segment: ['first_document', 'last_document'],
  // the log alone knows it
  certificate: ['logged_at', '*'],
}

export function isUnconfirmed({ what }: RowDamage): boolean {
  const [table = '', column = '*'] = what.split('.')
  return UNCONFIRMED[table]?.includes(column) ?? false
}
