/** Writes the facts of names that passed the gate, and with them the rows and counters that names share. */

import type { DatabaseSync } from 'node:sqlite'
import type { FactChanges, SupersededState } from '../../../apply/change.ts'
import type { CurrentFacts } from '../../../apply/crawl-state.ts'
import { RECORD_TYPE_NUMBERS } from '../../../apply/stored-numbers.ts'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { type IpAddress, packAddress } from '../../../values/ip-address.ts'
import { formatInstant, type Instant } from '../../../values/time.ts'
import { FACTS_COLUMN_NAMES, packFacts, packTerms } from '../../shared/columns.ts'
import { checksumOf } from '../database/checksum.ts'
import { type SqliteSharedRows, sharedRowWriter } from './shared-rows.ts'

/** One transaction's writing: `write` one name after another, then `finish` once. */
type FactsWriter = {
  /** An id that no name has. */
  nextId(): number
  /** `fresh` is the id of a name that is new with this write, null for one that was there. */
  write(name: DomainName, facts: FactChanges, newId: number | null): void
  finish(): void
}

/** Prepares the statements once; each call of what it returns begins one transaction's writing. */
export function factsWriter(database: DatabaseSync): () => FactsWriter {
  const newest = database.prepare('select max(id) as id from facts')
  const current = currentWriter(database)
  const keepState = stateWriter(database)
  const keepTerms = termsWriter(database)
  const since = sinceWriter(database)
  const gather = sharedRowWriter(database)
  return () => {
    const shared = gather()
    let last = (newest.get() as { id: number | null }).id ?? 0
    const freshId = (): number => ++last
    return {
      nextId: freshId,
      write(name, facts, fresh) {
        const id =
          fresh === null ? current.update(name, facts.current, freshId) : current.insert(fresh, name, facts.current)
        for (const state of facts.superseded) keepState(id, state)
        if (facts.terms !== undefined) keepTerms(id, facts.terms)
        const dates = facts.firstSeen.map(({ address, since: instant }) => since.keep(id, address, instant))
        const sinceOf = (address: IpAddress): string => {
          const place = facts.firstSeen.findIndex((seen) => seen.address === address)
          return formatInstant(dates[place] ?? since.read(id, address))
        }
        queueSharedRows(shared, name, facts, sinceOf)
      },
      finish: shared.finish,
    }
  }
}

function queueSharedRows(
  shared: SqliteSharedRows,
  name: DomainName,
  facts: FactChanges,
  since: (address: IpAddress) => string,
): void {
  for (const address of facts.left) shared.leave(address, name)
  for (const address of facts.arrived) shared.arrive(address, name, since(address))
  if (facts.redirectBefore === facts.redirectAfter) return
  if (facts.redirectBefore !== null) shared.removeRedirect(facts.redirectBefore, name)
  if (facts.redirectAfter !== null) shared.addRedirect(facts.redirectAfter, name)
}

/** Writes the current facts and returns the id of the name, which gets one with its first fact. */
function currentWriter(database: DatabaseSync) {
  const idOf = database.prepare('select id from crawl_state where slot = ? and name = ?')
  const setId = database.prepare('update crawl_state set id = ? where slot = ? and name = ?')
  const insert = database.prepare(
    `insert into facts (id, name, status, ip, flags, ssl, redirects_to, social_networks, social_accounts, text_digest, addresses, states,
       redirect_host, checksum) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const update = database.prepare(
    `update facts set status = ?, ip = ?, flags = ?, ssl = ?, redirects_to = ?, social_networks = ?, social_accounts = ?, text_digest = ?,
       addresses = ?, states = ?, redirect_host = ?, checksum = ? where id = ?`,
  )
  const insertAs = (id: number, name: DomainName, current: CurrentFacts): number => {
    insert.run(...factsValues(id, name, current))
    return id
  }
  return {
    insert: insertAs,
    update(name: DomainName, current: CurrentFacts, freshId: () => number): number {
      const { id } = idOf.get(slotOf(name), name) as { id: number | null }
      if (id === null) {
        const fresh = freshId()
        setId.run(fresh, slotOf(name), name)
        return insertAs(fresh, name, current)
      }
      update.run(...factsValues(id, name, current).slice(2), id)
      return id
    },
  }
}

/** The values of a row of facts, and their checksum. */
function factsValues(id: number, name: DomainName, current: CurrentFacts): (string | number | null)[] {
  const row = packFacts(current)
  const values = [id, name, ...FACTS_COLUMN_NAMES.map((column) => row[column])]
  return [...values, checksumOf(values)]
}

function stateWriter(database: DatabaseSync): (id: number, state: SupersededState) => void {
  const insert = database.prepare(
    `insert into dns_state (id, type, first_seen, last_confirmed, records, serial, base_first_seen, checksum)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return (id, { type, first_seen, last_confirmed, records, serial, base }) => {
    const values = [id, RECORD_TYPE_NUMBERS[type], first_seen, last_confirmed, records, serial, base]
    insert.run(...values, checksumOf(values))
  }
}

function termsWriter(database: DatabaseSync): (id: number, terms: FactChanges['terms']) => void {
  const keep = database.prepare('insert or replace into pending_page (id, digest, terms) values (?, ?, ?)')
  const remove = database.prepare('delete from pending_page where id = ?')
  return (id, terms) => {
    if (terms) keep.run(id, terms.digest, packTerms(terms.counts))
    else remove.run(id)
  }
}

/** The first time a name was seen on an address: kept once, never moved. */
function sinceWriter(database: DatabaseSync) {
  const keep = database.prepare(
    'insert into address_first_seen (id, address, first_seen) values (?, ?, ?) on conflict do nothing',
  )
  const first = database.prepare('select first_seen from address_first_seen where id = ? and address = ?')
  const read = (id: number, address: IpAddress): Instant =>
    (first.get(id, packAddress(address)) as { first_seen: Instant }).first_seen
  return {
    /** Returns the date that stands. */
    keep: (id: number, address: IpAddress, since: Instant): Instant =>
      keep.run(id, packAddress(address), since).changes === 1 ? since : read(id, address),
    read,
  }
}
