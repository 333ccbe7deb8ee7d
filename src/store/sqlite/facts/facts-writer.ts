/** Writes the facts of names that passed the version check, and the rows and counters that names share. */

import type { DatabaseSync } from 'node:sqlite'
import type { FactChanges, SupersededState } from '../../../apply/change.ts'
import type { CurrentFacts } from '../../../apply/crawl-state.ts'
import { RECORD_TYPE_NUMBERS, STATE_TYPE_NUMBERS } from '../../../apply/stored-numbers.ts'
import type { Certificate } from '../../../values/certificate/certificate.ts'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { type IpAddress, packAddress } from '../../../values/ip-address.ts'
import { formatInstant, type Instant } from '../../../values/time.ts'
import { presentedCertificates } from '../../shared/certificates.ts'
import { type ChecksummedFacts, checksumOf } from '../../shared/check/checksum.ts'
import { packFacts, packTerms } from '../../shared/columns.ts'
import { columnNames } from '../../shared/tables.ts'
import { inverseWriter } from '../inverse/inverse.ts'
import { certificateWriter } from './certificates.ts'
import { type SqliteSharedRows, sharedRowWriter } from './shared-rows.ts'

/** Writes of one transaction: call `write` for one name after another, then `finish` once. */
type FactsWriter = {
  /** An unused id. */
  nextId(): number
  /** A name that was not known, whether it has facts or not. */
  addName(name: DomainName): void
  /** `newId`: the id of a name that this write creates; null for an existing name. */
  write(name: DomainName, facts: FactChanges, newId: number | null): void
  finish(): void
}

/** Prepares the statements once. Each call of the returned function starts the writes of one transaction. */
export function factsWriter(database: DatabaseSync): () => FactsWriter {
  const maxId = database.prepare('select max(id) as id from facts')
  const current = currentWriter(database)
  const writeState = stateWriter(database)
  const writeInterruption = interruptionWriter(database)
  const writeTerms = termsWriter(database)
  const firstSeen = firstSeenWriter(database)
  const prepareSharedRows = sharedRowWriter(database)
  const addCertificates = certificateWriter(database)
  const beginRun = inverseWriter(database)
  return () => {
    const shared = prepareSharedRows()
    const run = beginRun()
    const certificates: Certificate[] = []
    let last = (maxId.get() as { id: number | null }).id ?? 0
    const nextId = (): number => ++last
    return {
      nextId,
      addName: (name) => run.addName(name),
      write(name, facts, newId) {
        const id =
          newId === null ? current.update(name, facts.current, nextId) : current.insert(newId, name, facts.current)
        for (const state of facts.superseded) writeState(id, state)
        for (const interruption of facts.interruptions) writeInterruption(id, interruption)
        if (facts.terms !== undefined) writeTerms(id, facts.terms)
        const firstSeenDates = facts.firstSeen.map(({ address, since }) => firstSeen.insertOrRead(id, address, since))
        const firstSeenOf = (address: IpAddress): string => {
          const index = facts.firstSeen.findIndex((seen) => seen.address === address)
          return formatInstant(firstSeenDates[index] ?? firstSeen.read(id, address))
        }
        queueSharedRows(shared, name, facts, firstSeenOf)
        certificates.push(...facts.certificates)
        run.addChanges(name, facts.setChanges)
      },
      finish() {
        shared.finish()
        for (const each of addCertificates(presentedCertificates(certificates))) run.addCertificate(each)
        run.finish()
      },
    }
  }
}

function queueSharedRows(
  shared: SqliteSharedRows,
  name: DomainName,
  facts: FactChanges,
  firstSeen: (address: IpAddress) => string,
): void {
  for (const address of facts.left) shared.leave(address, name)
  for (const address of facts.arrived) shared.arrive(address, name, firstSeen(address))
  if (facts.redirectBefore === facts.redirectAfter) return
  if (facts.redirectBefore !== null) shared.removeRedirect(facts.redirectBefore, name)
  if (facts.redirectAfter !== null) shared.addRedirect(facts.redirectAfter, name)
}

/** The statement that inserts a row with its checksum. */
function insertSql(table: ChecksummedFacts): string {
  const columns = [...columnNames(table), 'checksum']
  return `insert into ${table} (${columns}) values (${columns.map(() => '?')})`
}

/** The columns of `facts` without its id and name. */
const [, , ...FACTS_VALUES] = columnNames('facts')

/** Writes the current facts and returns the id of the name. A name gets its id with its first fact. */
function currentWriter(database: DatabaseSync) {
  const idOf = database.prepare('select id from crawl_state where slot = ? and name = ?')
  const setId = database.prepare('update crawl_state set id = ? where slot = ? and name = ?')
  const insert = database.prepare(insertSql('facts'))
  const update = database.prepare(
    `update facts set ${[...FACTS_VALUES, 'checksum'].map((column) => `${column} = ?`)} where id = ?`,
  )
  const insertAs = (id: number, name: DomainName, current: CurrentFacts): number => {
    insert.run(...factsValues(id, name, current))
    return id
  }
  return {
    insert: insertAs,
    update(name: DomainName, current: CurrentFacts, nextId: () => number): number {
      const { id } = idOf.get(slotOf(name), name) as { id: number | null }
      if (id === null) {
        const newId = nextId()
        setId.run(newId, slotOf(name), name)
        return insertAs(newId, name, current)
      }
      update.run(...factsValues(id, name, current).slice(2), id)
      return id
    },
  }
}

/** The values of a row of facts and their checksum. */
function factsValues(id: number, name: DomainName, current: CurrentFacts): (string | number | null)[] {
  const row = { id, name, ...packFacts(current) }
  const values = columnNames('facts').map((column) => row[column])
  return [...values, checksumOf('facts', values)]
}

function stateWriter(database: DatabaseSync): (id: number, state: SupersededState) => void {
  const insert = database.prepare(insertSql('dns_state'))
  return (id, { type, first_seen, last_confirmed, records, serial, base }) => {
    const values = [id, STATE_TYPE_NUMBERS[type], first_seen, last_confirmed, records, serial, base]
    insert.run(...values, checksumOf('dns_state', values))
  }
}

function interruptionWriter(database: DatabaseSync) {
  const insert = database.prepare(insertSql('dns_interruption'))
  return (id: number, { type, last_seen, seen_again }: FactChanges['interruptions'][number]): void => {
    const values = [id, RECORD_TYPE_NUMBERS[type], seen_again, last_seen]
    insert.run(...values, checksumOf('dns_interruption', values))
  }
}

function termsWriter(database: DatabaseSync): (id: number, terms: FactChanges['terms']) => void {
  const upsert = database.prepare('insert or replace into pending_page (id, digest, terms) values (?, ?, ?)')
  const remove = database.prepare('delete from pending_page where id = ?')
  return (id, terms) => {
    if (terms) upsert.run(id, terms.digest, packTerms(terms.counts))
    else remove.run(id)
  }
}

/** The first time a name was seen on an address. It is stored once and never changes. */
function firstSeenWriter(database: DatabaseSync) {
  const insert = database.prepare(
    'insert into address_first_seen (id, address, first_seen) values (?, ?, ?) on conflict do nothing',
  )
  const select = database.prepare('select first_seen from address_first_seen where id = ? and address = ?')
  const read = (id: number, address: IpAddress): Instant =>
    (select.get(id, packAddress(address)) as { first_seen: Instant }).first_seen
  return {
    /** Returns the stored date. */
    insertOrRead: (id: number, address: IpAddress, since: Instant): Instant =>
      insert.run(id, packAddress(address), since).changes === 1 ? since : read(id, address),
    read,
  }
}
