/** The rows that names share: presence on addresses and redirects to targets, each list with its counter. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { DomainName } from '../../../values/domain-name.ts'
import { type IpAddress, packAddress, packToHex } from '../../../values/ip-address.ts'

export type SqliteSharedRows = {
  arrive(address: IpAddress, name: DomainName, since: string): void
  leave(address: IpAddress, name: DomainName): void
  addRedirect(target: DomainName, source: DomainName): void
  removeRedirect(target: DomainName, source: DomainName): void
  /** Writes the queued rows in the order of their keys, then each counter once. */
  finish(): void
}

/** A row to write. `key`: of its counter, in an order of texts. `delta`: the change of the counter. */
type SharedRow = {
  key: string
  name: DomainName
  statement: StatementSync
  values: (string | Uint8Array)[]
  delta: 1 | -1
}
type CounterStatements = { add: StatementSync; drop: StatementSync }

/** Prepares the statements once. Each call of the returned function queues the rows of one transaction. */
export function sharedRowWriter(database: DatabaseSync): () => SqliteSharedRows {
  const addresses = counterStatements(database, 'address_count', 'address', 'names')
  const targets = counterStatements(database, 'redirect_count', 'target', 'sources')
  const insertPresence = database.prepare('insert or ignore into presence (address, name, since) values (?, ?, ?)')
  const deletePresence = database.prepare('delete from presence where address = ? and name = ?')
  const insertRedirect = database.prepare('insert or ignore into redirect (target, source) values (?, ?)')
  const deleteRedirect = database.prepare('delete from redirect where target = ? and source = ?')
  return () => {
    const presence: SharedRow[] = []
    const redirect: SharedRow[] = []
    return {
      arrive(address, name, since) {
        const values = [packAddress(address), name, since]
        presence.push({ key: packToHex(address), name, statement: insertPresence, values, delta: 1 })
      },
      leave(address, name) {
        const values = [packAddress(address), name]
        presence.push({ key: packToHex(address), name, statement: deletePresence, values, delta: -1 })
      },
      addRedirect(target, source) {
        const values = [target, source]
        redirect.push({ key: target, name: source, statement: insertRedirect, values, delta: 1 })
      },
      removeRedirect(target, source) {
        const values = [target, source]
        redirect.push({ key: target, name: source, statement: deleteRedirect, values, delta: -1 })
      },
      finish() {
        writeSharedRows(presence, addresses)
        writeSharedRows(redirect, targets)
      },
    }
  }
}

function counterStatements(database: DatabaseSync, table: string, key: string, counter: string): CounterStatements {
  return {
    add: database.prepare(
      `insert into ${table} (${key}, ${counter}) values (?, ?) on conflict (${key}) do update set ${counter} = ${counter} + excluded.${counter}`,
    ),
    drop: database.prepare(`delete from ${table} where ${key} = ? and ${counter} = 0`),
  }
}

/** A counter changes by the number of rows that were really written or removed. */
function writeSharedRows(rows: SharedRow[], { add, drop }: CounterStatements): void {
  rows.sort((a, b) => compareTexts(a.key, b.key) || compareTexts(a.name, b.name))
  let index = 0
  while (index < rows.length) {
    const { key, values } = rows[index]!
    let difference = 0
    for (; index < rows.length && rows[index]!.key === key; index++) {
      const { statement, values, delta } = rows[index]!
      if (statement.run(...values).changes === 1) difference += delta
    }
    if (difference !== 0) add.run(values[0]!, difference)
    if (difference < 0) drop.run(values[0]!)
  }
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
