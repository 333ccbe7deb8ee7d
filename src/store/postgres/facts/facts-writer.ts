/** Writes the facts of names that passed the version check, and the rows and counters that names share. */

import type { FactChanges } from '../../../apply/change.ts'
import { RECORD_TYPE_NUMBERS } from '../../../apply/stored-numbers.ts'
import type { DomainName } from '../../../values/domain-name.ts'
import { type IpAddress, packToHex } from '../../../values/ip-address.ts'
import { formatInstant, type Instant } from '../../../values/time.ts'
import { packFacts, packTerms } from '../../shared/columns.ts'
import { addressArray, bytesArray, plainArray, textArray } from '../database/arrays.ts'
import { partitionOfName } from '../database/partition.ts'
import type { Session } from '../database/transaction.ts'
import { PostgresSharedRows } from './shared-rows.ts'

/** What to write for a name that passed the version check. `isNew`: it had no facts. */
export type WrittenName = { name: DomainName; id: number; isNew: boolean; facts: FactChanges }

const FACTS_ROWS = `unnest($1::smallint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::text[], $8::text[],
  $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[])
  as k(part, id, name, status, ip, flags, ssl, redirects_to, social_networks, social_accounts, text_digest, addresses, states, redirect_host)`
const INSERT_FACTS = {
  name: 'facts.insert',
  text: `insert into facts (part, id, name, status, ip, flags, ssl, redirects_to, social_networks, social_accounts, text_digest, addresses, states,
      redirect_host)
    select part, id, name, status, ip, flags, ssl, redirects_to, social_networks, social_accounts, text_digest, addresses::bytea[], states,
      redirect_host from ${FACTS_ROWS}`,
}
const UPDATE_FACTS = {
  name: 'facts.update',
  text: `update facts f set status = k.status, ip = k.ip, flags = k.flags, ssl = k.ssl, redirects_to = k.redirects_to,
      social_networks = k.social_networks, social_accounts = k.social_accounts, text_digest = k.text_digest, addresses = k.addresses::bytea[], states = k.states,
      redirect_host = k.redirect_host
    from ${FACTS_ROWS} where f.part = k.part and f.id = k.id`,
}
const INSERT_STATES = {
  name: 'dns-state.insert',
  text: `insert into dns_state (part, id, type, first_seen, last_confirmed, records, serial, base_first_seen)
    select * from unnest($1::smallint[], $2::bigint[], $3::smallint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[], $8::bigint[])`,
}
/** The first time a name was seen on an address. It is stored once and never changes. */
const INSERT_FIRST_SEEN = {
  name: 'first-seen.insert',
  text: `insert into address_first_seen (part, id, address, first_seen) select * from unnest($1::smallint[], $2::bigint[], $3::bytea[], $4::bigint[])
    on conflict do nothing`,
}
const READ_FIRST_SEEN = {
  name: 'first-seen.read',
  text: `select e.id, encode(e.address, 'hex') as hex, e.first_seen from unnest($1::smallint[], $2::bigint[], $3::bytea[]) as k(part, id, address)
    join address_first_seen e on e.part = k.part and e.id = k.id and e.address = k.address`,
}
const UPSERT_PENDING_PAGE = {
  name: 'pending-page.upsert',
  text: `insert into pending_page (part, id, digest, terms) select * from unnest($1::smallint[], $2::bigint[], $3::text[], $4::bytea[])
    on conflict (part, id) do update set digest = excluded.digest, terms = excluded.terms`,
}
const DELETE_PENDING_PAGE = {
  name: 'pending-page.delete',
  text: `delete from pending_page p using unnest($1::smallint[], $2::bigint[]) as k(part, id) where p.part = k.part and p.id = k.id`,
}

/** Most statements take one round trip: those that need no result are sent immediately. */
export async function writeFacts(session: Session, names: readonly WrittenName[]): Promise<void> {
  if (names.length === 0) return
  const writes = Promise.all([
    runUnlessEmpty(session, INSERT_FACTS, factsColumns(names.filter(({ isNew }) => isNew))),
    runUnlessEmpty(session, UPDATE_FACTS, factsColumns(names.filter(({ isNew }) => !isNew))),
    runUnlessEmpty(session, INSERT_STATES, stateColumns(names)),
    runUnlessEmpty(session, INSERT_FIRST_SEEN, firstSeenColumns(names)),
    ...pendingPageWrites(session, names),
  ])
  const [firstSeen] = await Promise.all([firstSeenReader(session, names), writes])
  const shared = new PostgresSharedRows()
  for (const { name, id, facts } of names) {
    for (const address of facts.left) shared.leave(address, name)
    for (const address of facts.arrived) shared.arrive(address, name, formatInstant(firstSeen(id, address)))
    if (facts.redirectBefore === facts.redirectAfter) continue
    if (facts.redirectBefore !== null) shared.removeRedirect(facts.redirectBefore, name)
    if (facts.redirectAfter !== null) shared.addRedirect(facts.redirectAfter, name)
  }
  await shared.write(session)
}

/** Skips the statement if the columns are empty. */
async function runUnlessEmpty(session: Session, statement: typeof INSERT_FACTS, columns: string[]): Promise<void> {
  if (columns[0] !== '{}') await session.run(statement, columns)
}

function factsWriterKeys(names: readonly Pick<WrittenName, 'name' | 'id'>[]): [string, string] {
  return [plainArray(names.map(({ name }) => partitionOfName(name))), plainArray(names.map(({ id }) => id))]
}

function factsColumns(names: readonly WrittenName[]): string[] {
  const rows = names.map(({ facts }) => ({ ...packFacts(facts.current), addresses: facts.current.addresses }))
  return [
    ...factsWriterKeys(names),
    plainArray(names.map(({ name }) => name)),
    plainArray(rows.map(({ status }) => status)),
    plainArray(rows.map(({ ip }) => ip)),
    plainArray(rows.map(({ flags }) => flags)),
    plainArray(rows.map(({ ssl }) => ssl)),
    plainArray(rows.map(({ redirects_to }) => redirects_to)),
    textArray(rows.map(({ social_networks }) => social_networks)),
    textArray(rows.map(({ social_accounts }) => social_accounts)),
    plainArray(rows.map(({ text_digest }) => text_digest)),
    textArray(rows.map(({ addresses }) => (addresses.length > 0 ? addressArray(addresses) : null))),
    textArray(rows.map(({ states }) => states)),
    plainArray(rows.map(({ redirect_host }) => redirect_host)),
  ]
}

function stateColumns(names: readonly WrittenName[]): string[] {
  const rows = names.flatMap(({ name, id, facts }) => facts.superseded.map((state) => ({ ...state, name, id })))
  return [
    ...factsWriterKeys(rows),
    plainArray(rows.map(({ type }) => RECORD_TYPE_NUMBERS[type])),
    plainArray(rows.map(({ first_seen }) => first_seen)),
    plainArray(rows.map(({ last_confirmed }) => last_confirmed)),
    textArray(rows.map(({ records }) => records)),
    plainArray(rows.map(({ serial }) => serial)),
    plainArray(rows.map(({ base }) => base)),
  ]
}

function firstSeenColumns(names: readonly WrittenName[]): string[] {
  const rows = names.flatMap(({ name, id, facts }) => facts.firstSeen.map((seen) => ({ ...seen, name, id })))
  return [
    ...factsWriterKeys(rows),
    addressArray(rows.map(({ address }) => address)),
    plainArray(rows.map(({ since }) => since)),
  ]
}

function pendingPageWrites(session: Session, names: readonly WrittenName[]): Promise<void>[] {
  const updated = names.filter(({ facts }) => facts.terms)
  const removed = names.filter(({ facts }) => facts.terms === null)
  const columns = [
    ...factsWriterKeys(updated),
    plainArray(updated.map(({ facts }) => facts.terms!.digest)),
    bytesArray(updated.map(({ facts }) => packTerms(facts.terms!.counts))),
  ]
  return [
    runUnlessEmpty(session, UPSERT_PENDING_PAGE, columns),
    runUnlessEmpty(session, DELETE_PENDING_PAGE, factsWriterKeys(removed)),
  ]
}

/** When names were first seen on their new addresses. Only names that existed before need a read. */
async function firstSeenReader(
  session: Session,
  names: readonly WrittenName[],
): Promise<(id: number, address: IpAddress) => Instant> {
  const firstSeen = new Map<string, Instant>()
  const missing: { name: DomainName; id: number; address: IpAddress }[] = []
  for (const { name, id, isNew, facts } of names) {
    if (!isNew) missing.push(...facts.arrived.map((address) => ({ name, id, address })))
    else
      for (const { address, since } of facts.firstSeen.toReversed()) firstSeen.set(`${id} ${packToHex(address)}`, since)
  }
  if (missing.length > 0) {
    const columns = [...factsWriterKeys(missing), addressArray(missing.map(({ address }) => address))]
    const rows = await session.rows<{ id: number; hex: string; first_seen: Instant }>(READ_FIRST_SEEN, columns)
    for (const { id, hex, first_seen } of rows) firstSeen.set(`${id} ${hex}`, first_seen)
  }
  return (id, address) => firstSeen.get(`${id} ${packToHex(address)}`)!
}
