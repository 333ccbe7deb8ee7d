/** Writes the facts of names that passed the gate, and with them the rows and counters that names share. */

import type { DatabaseSync } from 'node:sqlite'
import type { Facts, Superseded } from '../../apply/change.ts'
import type { Current } from '../../apply/known.ts'
import { TYPE_NUMBERS } from '../../apply/numbers.ts'
import { type Address, packAddress } from '../../words/address.ts'
import { type Name, slotOf } from '../../words/name.ts'
import { formatInstant, type Instant } from '../../words/time.ts'
import { FACTS_VALUES, packFacts, packTerms } from '../columns.ts'
import { checksumOf } from './checksum.ts'
import { type SharedRows, sharedRows } from './shared-rows.ts'

/** One transaction's writing: `write` one name after another, then `finish` once. */
type FactsWriter = {
  /** An id that no name has. */
  freshId(): number
  /** `fresh` is the id of a name that is new with this write, null for one that was there. */
  write(name: Name, facts: Facts, fresh: number | null): void
  finish(): void
}

/** Prepares the statements once; each call of what it returns begins one transaction's writing. */
export function factsWriter(database: DatabaseSync): () => FactsWriter {
  const newest = database.prepare('select max(id) as id from facts')
  const current = currentWriter(database)
  const keepState = stateWriter(database)
  const keepTerms = termsWriter(database)
  const since = sinceWriter(database)
  const gather = sharedRows(database)
  return () => {
    const shared = gather()
    let last = (newest.get() as { id: number | null }).id ?? 0
    const freshId = (): number => ++last
    return {
      freshId,
      write(name, facts, fresh) {
        const id =
          fresh === null ? current.update(name, facts.current, freshId) : current.insert(fresh, name, facts.current)
        for (const state of facts.superseded) keepState(id, state)
        if (facts.terms !== undefined) keepTerms(id, facts.terms)
        const dates = facts.seen.map(({ address, since: instant }) => since.keep(id, address, instant))
        const sinceOf = (address: Address): string => {
          const place = facts.seen.findIndex((seen) => seen.address === address)
          return formatInstant(dates[place] ?? since.read(id, address))
        }
        moveShared(shared, name, facts, sinceOf)
      },
      finish: shared.finish,
    }
  }
}

function moveShared(shared: SharedRows, name: Name, facts: Facts, since: (address: Address) => string): void {
  for (const address of facts.left) shared.leave(address, name)
  for (const address of facts.arrived) shared.arrive(address, name, since(address))
  if (facts.redirectBefore === facts.redirectAfter) return
  if (facts.redirectBefore !== null) shared.endRedirect(facts.redirectBefore, name)
  if (facts.redirectAfter !== null) shared.beginRedirect(facts.redirectAfter, name)
}

/** Writes the current facts and returns the id of the name, which gets one with its first fact. */
function currentWriter(database: DatabaseSync) {
  const idOf = database.prepare('select id from visit where slot = ? and name = ?')
  const setId = database.prepare('update visit set id = ? where slot = ? and name = ?')
  const insert = database.prepare(
    `insert into facts (id, name, status, ip, flags, ssl, redirects_to, networks, accounts, digest, addresses, states,
       redirect_host, checksum) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const update = database.prepare(
    `update facts set status = ?, ip = ?, flags = ?, ssl = ?, redirects_to = ?, networks = ?, accounts = ?, digest = ?,
       addresses = ?, states = ?, redirect_host = ?, checksum = ? where id = ?`,
  )
  const insertAs = (id: number, name: Name, current: Current): number => {
    insert.run(...summed(id, name, current))
    return id
  }
  return {
    insert: insertAs,
    update(name: Name, current: Current, freshId: () => number): number {
      const { id } = idOf.get(slotOf(name), name) as { id: number | null }
      if (id === null) {
        const fresh = freshId()
        setId.run(fresh, slotOf(name), name)
        return insertAs(fresh, name, current)
      }
      update.run(...summed(id, name, current).slice(2), id)
      return id
    },
  }
}

/** The values of a row of facts, and their checksum. */
function summed(id: number, name: Name, current: Current): (string | number | null)[] {
  const row = packFacts(current)
  const values = [id, name, ...FACTS_VALUES.map((column) => row[column])]
  return [...values, checksumOf(values)]
}

function stateWriter(database: DatabaseSync): (id: number, state: Superseded) => void {
  const insert = database.prepare(
    `insert into state (id, type, first_seen, last_confirmed, records, serial, base, checksum)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return (id, { type, first_seen, last_confirmed, records, serial, base }) => {
    const values = [id, TYPE_NUMBERS[type], first_seen, last_confirmed, records, serial, base]
    insert.run(...values, checksumOf(values))
  }
}

function termsWriter(database: DatabaseSync): (id: number, terms: Facts['terms']) => void {
  const keep = database.prepare('insert or replace into page (id, digest, terms) values (?, ?, ?)')
  const remove = database.prepare('delete from page where id = ?')
  return (id, terms) => {
    if (terms) keep.run(id, terms.digest, packTerms(terms.counts))
    else remove.run(id)
  }
}

/** The first time a name was seen on an address: kept once, never moved. */
function sinceWriter(database: DatabaseSync) {
  const keep = database.prepare('insert into ever (id, address, since) values (?, ?, ?) on conflict do nothing')
  const first = database.prepare('select since from ever where id = ? and address = ?')
  const read = (id: number, address: Address): Instant =>
    (first.get(id, packAddress(address)) as { since: Instant }).since
  return {
    /** Returns the date that stands. */
    keep: (id: number, address: Address, since: Instant): Instant =>
      keep.run(id, packAddress(address), since).changes === 1 ? since : read(id, address),
    read,
  }
}
