/** Writes the facts of names that passed the gate, and with them the rows and counters that names share. */

import type { DatabaseSync } from 'node:sqlite'
import type { Facts, Superseded } from '../../apply/change.ts'
import type { Current } from '../../apply/known.ts'
import { type Address, packAddress } from '../../words/address.ts'
import { type Name, slotOf } from '../../words/name.ts'
import { RECORD_TYPES } from '../../words/record.ts'
import { formatInstant } from '../../words/time.ts'
import { packFacts, packTerms } from './columns.ts'
import { type SharedRows, sharedRows } from './shared-rows.ts'

/** One transaction's writing: `write` one name after another, then `finish` once. */
type FactsWriter = { write(name: Name, facts: Facts): void; finish(): void }

/** Prepares the statements once; each call of what it returns begins one transaction's writing. */
export function factsWriter(database: DatabaseSync): () => FactsWriter {
  const rowOf = currentWriter(database)
  const keepState = stateWriter(database)
  const keepTerms = termsWriter(database)
  const since = sinceWriter(database)
  const gather = sharedRows(database)
  return () => {
    const shared = gather()
    return {
      write(name, facts) {
        const id = rowOf(name, facts.current)
        for (const state of facts.superseded) keepState(id, state)
        for (const { address, since: instant } of facts.seen) since.keep(id, address, instant)
        if (facts.terms !== undefined) keepTerms(id, facts.terms)
        moveShared(shared, name, facts, (address) => since.of(id, address))
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

/** Writes the current facts and returns the id of the name, a new one with its first fact. */
function currentWriter(database: DatabaseSync): (name: Name, current: Current) => number {
  const columns = [
    'status',
    'ip',
    'flags',
    'ssl',
    'redirects_to',
    'networks',
    'accounts',
    'digest',
    'addresses',
    'states',
  ]
  const idOf = database.prepare('select id from visit where slot = ? and name = ?')
  const setId = database.prepare('update visit set id = ? where slot = ? and name = ?')
  const insert = database.prepare(
    `insert into facts (name, ${columns.join(', ')}) values (?${', ?'.repeat(columns.length)})`,
  )
  const update = database.prepare(
    `update facts set ${columns.map((column) => `${column} = ?`).join(', ')} where id = ?`,
  )
  return (name, current) => {
    const values = Object.values(packFacts(current))
    const known = (idOf.get(slotOf(name), name) as { id: number | null }).id
    if (known !== null) {
      update.run(...values, known)
      return known
    }
    const id = Number(insert.run(name, ...values).lastInsertRowid)
    setId.run(id, slotOf(name), name)
    return id
  }
}

function stateWriter(database: DatabaseSync): (id: number, state: Superseded) => void {
  const insert = database.prepare('insert into state values (?, ?, ?, ?, ?, ?, ?)')
  return (id, { type, first_seen, last_confirmed, records, serial, base }) => {
    insert.run(id, RECORD_TYPES.indexOf(type), first_seen, last_confirmed, records, serial, base)
  }
}

function termsWriter(database: DatabaseSync): (id: number, terms: Facts['terms']) => void {
  const keep = database.prepare('insert or replace into page values (?, ?, ?)')
  const remove = database.prepare('delete from page where id = ?')
  return (id, terms) => {
    if (terms) keep.run(id, terms.digest, packTerms(terms.counts))
    else remove.run(id)
  }
}

/** The first time a name was seen on an address: kept once, never moved. */
function sinceWriter(database: DatabaseSync) {
  const keep = database.prepare('insert into ever values (?, ?, ?) on conflict do nothing')
  const read = database.prepare('select since from ever where id = ? and address = ?')
  return {
    keep: (id: number, address: Address, since: number): void => {
      keep.run(id, packAddress(address), since)
    },
    of: (id: number, address: Address): string =>
      formatInstant((read.get(id, packAddress(address)) as { since: number }).since),
  }
}
