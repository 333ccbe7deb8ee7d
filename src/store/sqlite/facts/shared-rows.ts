/** The rows that names share, presence on addresses and redirects to targets, each list with its counter. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { DomainName } from '../../../values/domain-name.ts'
import { type IpAddress, packAddress, packToHex } from '../../../values/ip-address.ts'

export type SqliteSharedRows = {
  arrive(address: IpAddress, name: DomainName, since: string): void
  leave(address: IpAddress, name: DomainName): void
  addRedirect(target: DomainName, source: DomainName): void
  removeRedirect(target: DomainName, source: DomainName): void
  /** Writes what was gathered: rows in the order of their keys, then every counter once. */
  finish(): void
}

/** A row to be written: where it sorts, the statement, its values, and the counter that it moves. */
type SharedRow = { order: string; statement: StatementSync; values: (string | Uint8Array)[]; by: 1 | -1 }
type CounterStatements = { add: StatementSync; drop: StatementSync }

/** Prepares the statements once; each call of what it returns gathers for one transaction. */
export function sharedRowWriter(database: DatabaseSync): () => SqliteSharedRows {
  const addresses = counterStatements(database, 'address_count', 'address', 'names')
  const targets = counterStatements(database, 'redirect_count', 'target', 'sources')
  const arrive = database.prepare('insert or ignore into presence (address, name, since) values (?, ?, ?)')
  const leave = database.prepare('delete from presence where address = ? and name = ?')
  const begin = database.prepare('insert or ignore into redirect (target, source) values (?, ?)')
  const end = database.prepare('delete from redirect where target = ? and source = ?')
  return () => {
    const presence: SharedRow[] = []
    const redirect: SharedRow[] = []
    const key = (address: IpAddress, name: DomainName): string => `${packToHex(address)} ${name}`
    return {
      arrive(address, name, since) {
        presence.push({
          order: key(address, name),
          statement: arrive,
          values: [packAddress(address), name, since],
          by: 1,
        })
      },
      leave(address, name) {
        presence.push({ order: key(address, name), statement: leave, values: [packAddress(address), name], by: -1 })
      },
      addRedirect(target, source) {
        redirect.push({ order: `${target} ${source}`, statement: begin, values: [target, source], by: 1 })
      },
      removeRedirect(target, source) {
        redirect.push({ order: `${target} ${source}`, statement: end, values: [target, source], by: -1 })
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

/** A counter moves by the rows that were really written or removed. */
function writeSharedRows(rows: SharedRow[], { add, drop }: CounterStatements): void {
  rows.sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0))
  let place = 0
  while (place < rows.length) {
    const key = rows[place]!.order.split(' ', 1)[0]!
    const value = rows[place]!.values[0]!
    let moved = 0
    for (; place < rows.length && rows[place]!.order.startsWith(`${key} `); place++) {
      const { statement, values, by } = rows[place]!
      if (statement.run(...values).changes === 1) moved += by
    }
    if (moved !== 0) add.run(value, moved)
    if (moved < 0) drop.run(value)
  }
}
