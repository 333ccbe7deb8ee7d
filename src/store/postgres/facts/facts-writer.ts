/** Writes the facts of names that passed the version check, and the rows and counters that names share. */

import type { FactChanges } from '../../../apply/change.ts'
import { RECORD_TYPE_NUMBERS, STATE_TYPE_NUMBERS } from '../../../apply/stored-numbers.ts'
import type { DomainName } from '../../../values/domain-name.ts'
import { type IpAddress, packAddress, packToHex } from '../../../values/ip-address.ts'
import { formatInstant, type Instant } from '../../../values/time.ts'
import { presentedCertificates } from '../../shared/certificates.ts'
import { packFacts, packTerms } from '../../shared/columns.ts'
import {
  insertStatement,
  type PartRow,
  type RowStatement,
  readForRows,
  rowStatement,
  runForRows,
  tableRows,
  updateStatement,
} from '../database/row-statements.ts'
import type { Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'
import { writeRun } from '../inverse/run.ts'
import { addCertificates } from './certificates.ts'
import { deletePendingPages, PAGE_KEY, type PageKey, removeFiledPages } from './page-removal.ts'
import { PostgresSharedRows } from './shared-rows.ts'

/** What to write for a name that passed the version check. `isNew`: it had no facts. */
export type WrittenName = { name: DomainName; part: number; id: number; isNew: boolean; facts: FactChanges }

const { name: _, ...UPDATED_FACTS } = tableRows('facts')
const INSERT_FACTS = insertStatement<FactsToWrite>('facts.insert', 'facts', tableRows('facts'))
const UPDATE_FACTS = updateStatement<Omit<FactsToWrite, 'name'>>('facts.update', 'facts', UPDATED_FACTS, ['part', 'id'])
const INSERT_STATES = insertStatement<StateRow>('dns-state.insert', 'dns_state', tableRows('dns_state'))
const INSERT_INTERRUPTIONS = insertStatement<InterruptionRow>(
  'dns-interruption.insert',
  'dns_interruption',
  tableRows('dns_interruption'),
)
/**
 * The first time a name was seen on an address. It is stored once and never changes. The join may reorder rows, so a
 * batch must have each key once.
 */
export const INSERT_FIRST_SEEN = insertStatement<FirstSeenRow>(
  'first-seen.insert',
  'address_first_seen',
  tableRows('address_first_seen'),
  'on conflict do nothing',
)
const READ_FIRST_SEEN = rowStatement<AddressKey>(
  'first-seen.read',
  { ...PAGE_KEY, address: 'bytes' },
  ({ rows, inShard }) =>
    `select e.id, encode(e.address, 'hex') as hex, e.first_seen from ${rows}
    join address_first_seen e on e.part = k.part and e.id = k.id and e.address = k.address and ${inShard('e.part')}`,
)
const UPSERT_PENDING_PAGE = insertStatement<PendingPageRow>(
  'pending-page.upsert',
  'pending_page',
  tableRows('pending_page'),
  'on conflict (part, id) do update set digest = excluded.digest, terms = excluded.terms',
)

/**
 * Writes facts, and adds names that were not known to the inverse index. Most statements take one round trip: those that
 * need no result are sent immediately.
 */
export async function writeFacts(
  session: Session,
  shards: Shards,
  names: readonly WrittenName[],
  newNames: readonly DomainName[],
): Promise<void> {
  if (names.length === 0) return writeRun(session, { names: newNames })
  const write = <Row extends PartRow>(statement: RowStatement<Row>, rows: readonly Row[]): Promise<void> =>
    runForRows(session.run, shards, statement, rows)
  const presented = presentedCertificates(names.flatMap(({ facts }) => facts.certificates))
  const newCertificates = await addCertificates(session, shards, presented)
  const removedTexts = names.filter(({ facts }) => facts.terms === null)
  const writes = Promise.all([
    write(INSERT_FACTS, names.filter(({ isNew }) => isNew).map(factsRow)),
    write(UPDATE_FACTS, names.filter(({ isNew }) => !isNew).map(factsRow)),
    write(INSERT_STATES, names.flatMap(stateRows)),
    write(INSERT_INTERRUPTIONS, names.flatMap(interruptionRows)),
    write(INSERT_FIRST_SEEN, names.flatMap(firstSeenRows)),
    write(UPSERT_PENDING_PAGE, names.flatMap(pendingPageRows)),
    deletePendingPages(session, shards, removedTexts),
    writeRun(session, { names: newNames, changed: names, certificates: newCertificates }),
  ])
  const [firstSeen] = await Promise.all([firstSeenReader(session, shards, names), writes])
  await sharedRowsOf(names, firstSeen).write(session, shards)
  await removeFiledPages(session, removedTexts)
}

type AddressKey = PageKey & { address: Uint8Array }
type FirstSeenOf = (id: number, address: IpAddress) => Instant

function sharedRowsOf(names: readonly WrittenName[], firstSeen: FirstSeenOf): PostgresSharedRows {
  const shared = new PostgresSharedRows()
  for (const { name, id, facts } of names) {
    for (const address of facts.left) shared.leave(address, name)
    for (const address of facts.arrived) shared.arrive(address, name, formatInstant(firstSeen(id, address)))
    if (facts.redirectBefore === facts.redirectAfter) continue
    if (facts.redirectBefore !== null) shared.removeRedirect(facts.redirectBefore, name)
    if (facts.redirectAfter !== null) shared.addRedirect(facts.redirectAfter, name)
  }
  return shared
}

type FactsToWrite = PageKey & { name: DomainName } & Omit<ReturnType<typeof packFacts>, 'addresses'> & {
    addresses: readonly IpAddress[]
  }

function factsRow({ part, id, name, facts: { current } }: WrittenName): FactsToWrite {
  return { part, id, name, ...packFacts(current), addresses: current.addresses }
}

type StateRow = ReturnType<typeof stateRows>[number]

function stateRows({ part, id, facts }: WrittenName) {
  return facts.superseded.map(({ type, first_seen, last_confirmed, records, serial, base }) => {
    return {
      part,
      id,
      type: STATE_TYPE_NUMBERS[type],
      first_seen,
      last_confirmed,
      records,
      serial,
      base_first_seen: base,
    }
  })
}

type InterruptionRow = ReturnType<typeof interruptionRows>[number]

function interruptionRows({ part, id, facts }: WrittenName) {
  return facts.interruptions.map(({ type, seen_again, last_seen }) => {
    return { part, id, type: RECORD_TYPE_NUMBERS[type], seen_again, last_seen }
  })
}

type FirstSeenRow = ReturnType<typeof firstSeenRows>[number]

/** One row for each address of a name, with its earliest time. */
function firstSeenRows({ part, id, facts }: WrittenName) {
  const latestFirst = facts.firstSeen.toSorted((a, b) => b.since - a.since)
  const earliest = new Map(latestFirst.map(({ address, since }) => [address, since]))
  return [...earliest].map(([address, first_seen]) => ({ part, id, address: packAddress(address), first_seen }))
}

type PendingPageRow = ReturnType<typeof pendingPageRows>[number]

function pendingPageRows({ part, id, facts: { terms } }: WrittenName) {
  return terms ? [{ part, id, digest: terms.digest, terms: packTerms(terms.counts) }] : []
}

/** When names were first seen on their new addresses. Only names that existed before need a read. */
async function firstSeenReader(session: Session, shards: Shards, names: readonly WrittenName[]): Promise<FirstSeenOf> {
  const firstSeen = new Map<string, Instant>()
  const missing: AddressKey[] = []
  for (const { part, id, isNew, facts } of names) {
    if (!isNew) missing.push(...facts.arrived.map((address) => ({ part, id, address: packAddress(address) })))
    else
      for (const { address, since } of facts.firstSeen.toReversed()) firstSeen.set(`${id} ${packToHex(address)}`, since)
  }
  type Seen = { id: number; hex: string; first_seen: Instant }
  const seen = await readForRows<Seen, AddressKey>(session.rows, shards, READ_FIRST_SEEN, missing)
  for (const { id, hex, first_seen } of seen) firstSeen.set(`${id} ${hex}`, first_seen)
  return (id, address) => firstSeen.get(`${id} ${packToHex(address)}`)!
}
