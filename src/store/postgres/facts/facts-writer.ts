/** Writes the facts of names that passed the version check, and the rows and counters that names share. */

import type { FactChanges } from '../../../apply/change.ts'
import { RECORD_TYPE_NUMBERS } from '../../../apply/stored-numbers.ts'
import type { DomainName } from '../../../values/domain-name.ts'
import { type IpAddress, packToHex } from '../../../values/ip-address.ts'
import { formatInstant, type Instant } from '../../../values/time.ts'
import { packFacts, packTerms } from '../../shared/columns.ts'
import { addressArray, bytesArray, plainArray, textArray } from '../database/arrays.ts'
import type { Statement } from '../database/connection.ts'
import { inShardSql, type Shards } from '../database/shards.ts'
import type { Session } from '../database/transaction.ts'
import { deletePendingPages, type PageKey, pageKeyColumns, removeFiledPages } from './page-removal.ts'
import { PostgresSharedRows } from './shared-rows.ts'

/** What to write for a name that passed the version check. `isNew`: it had no facts. */
export type WrittenName = { name: DomainName; part: number; id: number; isNew: boolean; facts: FactChanges }

const FACTS_ROWS = `unnest($1::smallint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::text[], $8::text[],
  $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[])
  as k(part, id, name, status, ip, flags, ssl, redirects_to, social_networks, social_accounts, text_digest, addresses, states, redirect_host)`
/** The cast of a text to an array of bytes would depend on settings, so that Citus would refuse it. */
export const ADDRESSES_SQL = `string_to_array(k.addresses, ',')::bytea[]`
const INSERT_FACTS = {
  name: 'facts.insert',
  text: `insert into facts (part, id, name, status, ip, flags, ssl, redirects_to, social_networks, social_accounts, text_digest, addresses, states,
      redirect_host)
    select a.part, k.id, k.name, k.status, k.ip, k.flags, k.ssl, k.redirects_to, k.social_networks, k.social_accounts, k.text_digest,
      ${ADDRESSES_SQL}, k.states, k.redirect_host from ${FACTS_ROWS} join anchor a on a.part = k.part where ${inShardSql('a.part', 15)}`,
}
const UPDATE_FACTS = {
  name: 'facts.update',
  text: `update facts f set status = k.status, ip = k.ip, flags = k.flags, ssl = k.ssl, redirects_to = k.redirects_to,
      social_networks = k.social_networks, social_accounts = k.social_accounts, text_digest = k.text_digest, addresses = ${ADDRESSES_SQL}, states = k.states,
      redirect_host = k.redirect_host
    from ${FACTS_ROWS} where f.part = k.part and f.id = k.id and ${inShardSql('f.part', 15)}`,
}
const INSERT_STATES = {
  name: 'dns-state.insert',
  text: `insert into dns_state (part, id, type, first_seen, last_confirmed, records, serial, base_first_seen)
    select a.part, k.id, k.type, k.first_seen, k.last_confirmed, k.records, k.serial, k.base_first_seen
    from unnest($1::smallint[], $2::bigint[], $3::smallint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[], $8::bigint[])
      as k(part, id, type, first_seen, last_confirmed, records, serial, base_first_seen)
    join anchor a on a.part = k.part where ${inShardSql('a.part', 9)}`,
}
const INSERT_INTERRUPTIONS = {
  name: 'dns-interruption.insert',
  text: `insert into dns_interruption (part, id, type, seen_again, last_seen)
    select a.part, k.id, k.type, k.seen_again, k.last_seen
    from unnest($1::smallint[], $2::bigint[], $3::smallint[], $4::bigint[], $5::bigint[]) as k(part, id, type, seen_again, last_seen)
    join anchor a on a.part = k.part where ${inShardSql('a.part', 6)}`,
}
/**
 * The first time a name was seen on an address. It is stored once and never changes. The join may reorder rows, so a
 * batch must have each key once.
 */
const INSERT_FIRST_SEEN = {
  name: 'first-seen.insert',
  text: `insert into address_first_seen (part, id, address, first_seen) select a.part, k.id, k.address, k.first_seen
    from unnest($1::smallint[], $2::bigint[], $3::bytea[], $4::bigint[]) as k(part, id, address, first_seen)
    join anchor a on a.part = k.part where ${inShardSql('a.part', 5)} on conflict do nothing`,
}
const READ_FIRST_SEEN = {
  name: 'first-seen.read',
  text: `select e.id, encode(e.address, 'hex') as hex, e.first_seen from unnest($1::smallint[], $2::bigint[], $3::bytea[]) as k(part, id, address)
    join address_first_seen e on e.part = k.part and e.id = k.id and e.address = k.address and ${inShardSql('e.part', 4)}`,
}
const UPSERT_PENDING_PAGE = {
  name: 'pending-page.upsert',
  text: `insert into pending_page (part, id, digest, terms) select a.part, k.id, k.digest, k.terms
    from unnest($1::smallint[], $2::bigint[], $3::text[], $4::bytea[]) as k(part, id, digest, terms)
    join anchor a on a.part = k.part where ${inShardSql('a.part', 5)}
    on conflict (part, id) do update set digest = excluded.digest, terms = excluded.terms`,
}

/** Most statements take one round trip: those that need no result are sent immediately. */
export async function writeFacts(session: Session, shards: Shards, names: readonly WrittenName[]): Promise<void> {
  if (names.length === 0) return
  const write: WriteRows = async (statement, rows, columnsOf) => {
    const batches = shards.batches(rows, partOf)
    await Promise.all(batches.map(({ rows, parts }) => session.run(statement, [...columnsOf(rows), parts])))
  }
  const removedTexts = names.filter(({ facts }) => facts.terms === null)
  const writes = Promise.all([
    write(
      INSERT_FACTS,
      names.filter(({ isNew }) => isNew),
      factsColumns,
    ),
    write(
      UPDATE_FACTS,
      names.filter(({ isNew }) => !isNew),
      factsColumns,
    ),
    write(INSERT_STATES, stateRows(names), stateColumns),
    write(INSERT_INTERRUPTIONS, interruptionRows(names), interruptionColumns),
    write(INSERT_FIRST_SEEN, firstSeenRows(names), firstSeenColumns),
    write(
      UPSERT_PENDING_PAGE,
      names.filter(({ facts }) => facts.terms),
      pendingPageColumns,
    ),
    deletePendingPages(session, shards, removedTexts),
  ])
  const [firstSeen] = await Promise.all([firstSeenReader(session, shards, names), writes])
  await sharedRowsOf(names, firstSeen).write(session, shards)
  await removeFiledPages(session, removedTexts)
}

type WriteRows = <Row extends { part: number }>(
  statement: Statement,
  rows: readonly Row[],
  columnsOf: (rows: readonly Row[]) => string[],
) => Promise<void>
type FirstSeenOf = (id: number, address: IpAddress) => Instant

function partOf({ part }: { part: number }): number {
  return part
}

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

function addressText(address: IpAddress): string {
  return `\\x${packToHex(address)}`
}

function factsColumns(names: readonly WrittenName[]): string[] {
  const rows = names.map(({ facts }) => ({ ...packFacts(facts.current), addresses: facts.current.addresses }))
  return [
    ...pageKeyColumns(names),
    plainArray(names.map(({ name }) => name)),
    plainArray(rows.map(({ status }) => status)),
    plainArray(rows.map(({ ip }) => ip)),
    plainArray(rows.map(({ flags }) => flags)),
    plainArray(rows.map(({ ssl }) => ssl)),
    plainArray(rows.map(({ redirects_to }) => redirects_to)),
    textArray(rows.map(({ social_networks }) => social_networks)),
    textArray(rows.map(({ social_accounts }) => social_accounts)),
    plainArray(rows.map(({ text_digest }) => text_digest)),
    textArray(rows.map(({ addresses }) => (addresses.length > 0 ? addresses.map(addressText).join(',') : null))),
    textArray(rows.map(({ states }) => states)),
    plainArray(rows.map(({ redirect_host }) => redirect_host)),
  ]
}

type StateRow = WrittenName['facts']['superseded'][number] & PageKey

function stateRows(names: readonly WrittenName[]): StateRow[] {
  return names.flatMap(({ part, id, facts }) => facts.superseded.map((state) => ({ ...state, part, id })))
}

function stateColumns(rows: readonly StateRow[]): string[] {
  return [
    ...pageKeyColumns(rows),
    plainArray(rows.map(({ type }) => RECORD_TYPE_NUMBERS[type])),
    plainArray(rows.map(({ first_seen }) => first_seen)),
    plainArray(rows.map(({ last_confirmed }) => last_confirmed)),
    textArray(rows.map(({ records }) => records)),
    plainArray(rows.map(({ serial }) => serial)),
    plainArray(rows.map(({ base }) => base)),
  ]
}

type InterruptionRow = WrittenName['facts']['interruptions'][number] & PageKey

function interruptionRows(names: readonly WrittenName[]): InterruptionRow[] {
  return names.flatMap(({ part, id, facts }) => facts.interruptions.map((each) => ({ ...each, part, id })))
}

function interruptionColumns(rows: readonly InterruptionRow[]): string[] {
  return [
    ...pageKeyColumns(rows),
    plainArray(rows.map(({ type }) => RECORD_TYPE_NUMBERS[type])),
    plainArray(rows.map(({ seen_again }) => seen_again)),
    plainArray(rows.map(({ last_seen }) => last_seen)),
  ]
}

type FirstSeenRow = WrittenName['facts']['firstSeen'][number] & PageKey

/** One row for each address of a name, with its earliest time. */
function firstSeenRows(names: readonly WrittenName[]): FirstSeenRow[] {
  return names.flatMap(({ part, id, facts }) => {
    const latestFirst = facts.firstSeen.toSorted((a, b) => b.since - a.since)
    const earliest = new Map(latestFirst.map((seen) => [seen.address, seen]))
    return [...earliest.values()].map((seen) => ({ ...seen, part, id }))
  })
}

function firstSeenColumns(rows: readonly FirstSeenRow[]): string[] {
  return [
    ...pageKeyColumns(rows),
    addressArray(rows.map(({ address }) => address)),
    plainArray(rows.map(({ since }) => since)),
  ]
}

function pendingPageColumns(names: readonly WrittenName[]): string[] {
  return [
    ...pageKeyColumns(names),
    plainArray(names.map(({ facts }) => facts.terms!.digest)),
    bytesArray(names.map(({ facts }) => packTerms(facts.terms!.counts))),
  ]
}

/** When names were first seen on their new addresses. Only names that existed before need a read. */
async function firstSeenReader(session: Session, shards: Shards, names: readonly WrittenName[]): Promise<FirstSeenOf> {
  const firstSeen = new Map<string, Instant>()
  const missing: (PageKey & { address: IpAddress })[] = []
  for (const { part, id, isNew, facts } of names) {
    if (!isNew) missing.push(...facts.arrived.map((address) => ({ part, id, address })))
    else
      for (const { address, since } of facts.firstSeen.toReversed()) firstSeen.set(`${id} ${packToHex(address)}`, since)
  }
  const reads = shards.batches(missing, partOf).map(({ rows, parts }) => {
    const columns = [...pageKeyColumns(rows), addressArray(rows.map(({ address }) => address)), parts]
    return session.rows<{ id: number; hex: string; first_seen: Instant }>(READ_FIRST_SEEN, columns)
  })
  for (const { id, hex, first_seen } of (await Promise.all(reads)).flat()) firstSeen.set(`${id} ${hex}`, first_seen)
  return (id, address) => firstSeen.get(`${id} ${packToHex(address)}`)!
}
