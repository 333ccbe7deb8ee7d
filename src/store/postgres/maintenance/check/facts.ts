/** Checks facts: the rows of one id belong to one name, are consistent, and match the shared rows. */

import { RECORD_TYPE_NUMBERS } from '../../../../apply/stored-numbers.ts'
import { type DomainName, slotOf } from '../../../../values/domain-name.ts'
import type { CheckedFacts } from '../../../shared/check/facts.ts'
import { checkFactsRows } from '../../../shared/check/rows.ts'
import type { CheckSlice } from '../../../shared/check/slice.ts'
import { bytesArray, plainArray } from '../../database/arrays.ts'
import { inRunSql, readRuns } from '../../database/citus/part-runs.ts'
import { PART_VALUES, partitionOfName, partitionOfPackedAddress } from '../../database/partition.ts'
import { inShardSql, type Shards } from '../../database/shards.ts'
import type { Session } from '../../database/transaction.ts'
import { FACTS_SELECT_COLUMNS } from '../../facts/observations.ts'

type FactsToCheck = Pick<CheckedFacts, 'id' | 'name' | 'addresses' | 'redirects_to'> & { part: number }

const CHECK_PRESENCE_SINCE = {
  name: 'check.presence-since',
  text: `select k.position, p.since from unnest($1::smallint[], $2::bytea[], $3::text[]) with ordinality as k(part, address, name, position)
    join presence p on p.part = k.part and p.address = k.address and p.name = k.name and ${inShardSql('p.part', 4)}`,
}
const CHECK_REDIRECTS_OF = {
  name: 'check.redirects-of',
  text: `select k.position from unnest($1::smallint[], $2::text[], $3::text[]) with ordinality as k(part, target, source, position)
    join redirect r on r.part = k.part and r.target = k.target and r.source = k.source and ${inShardSql('r.part', 4)}`,
}
const CHECK_DOCUMENTS_OF = {
  name: 'check.documents-of',
  text: `select t.name as "documentName", t.document,
      exists (select 1 from document d where d.part = (t.document & 255)::smallint and d.number = t.document) as "hasDocument"
    from unnest($1::smallint[], $2::bigint[]) with ordinality as k(part, id, position)
    left join page_document t on t.part = k.part and t.id = k.id order by k.position`,
}

const PARTS: ReadonlySet<number> = new Set(PART_VALUES)

type FactsKey = { part: number; id: number }
type FactsOwner = FactsKey & { name: DomainName; redirects_to: DomainName | null }
/** The columns of `CheckedFacts` that are in the shard of the name. */
type FactsInShard = Omit<
  CheckedFacts,
  'presenceSince' | 'hasRedirect' | 'documentName' | 'document' | 'hasDocument'
> & { part: number }

const nextKeysSql = (table: string, condition: string): string =>
  `(select distinct part, id from ${table} t where (part, id) > ($1, $2) and ${condition} order by part, id limit $3)`
/** The ids of the rows of all tables of a shard. */
const CHECK_IDS = {
  name: 'check.ids',
  text: `${['facts', 'dns_state', 'dns_interruption', 'address_first_seen', 'pending_page'].map((table) => nextKeysSql(table, inRunSql('t.part', 4))).join(' union ')} order by part, id limit $3`,
}
const CHECK_PAGE_IDS = { name: 'check.page-ids', text: nextKeysSql('page_document', 'true') }
const CHECK_OWNERS = {
  name: 'check.owners',
  text: `select f.part, f.id, f.name, f.redirects_to from unnest($1::smallint[], $2::bigint[]) as k(part, id)
    join facts f on f.part = k.part and f.id = k.id and ${inShardSql('f.part', 3)}`,
}
/** Each row with its name's crawl state, found by the slot of the name. */
const CHECK_FACTS = {
  name: 'check.facts',
  text: `select f.part, f.id, f.name, ${FACTS_SELECT_COLUMNS}, v.id as "stateId", v.clock, v.other_clocks as "otherClocks",
      v.dns_fingerprint as "dnsFingerprint", true as "isIntact",
      coalesce((select json_agg(json_build_object('type', type, 'first_seen', first_seen, 'last_confirmed', last_confirmed,
          'serial', serial, 'base', base_first_seen, 'isFull', (records is not null)::integer,
          'addresses', case when type in (${RECORD_TYPE_NUMBERS.A}, ${RECORD_TYPE_NUMBERS.AAAA}) then records end))
        from dns_state s where s.part = f.part and s.id = f.id and ${inShardSql('s.part', 5)}), '[]')::text as superseded,
      coalesce((select json_agg(json_build_array(type, last_seen, seen_again)) from dns_interruption i
        where i.part = f.part and i.id = f.id and ${inShardSql('i.part', 5)}), '[]')::text as interruptions,
      coalesce((select json_agg(json_build_array(encode(address, 'hex'), first_seen)) from address_first_seen e
        where e.part = f.part and e.id = f.id and ${inShardSql('e.part', 5)}), '[]')::text as "firstSeen",
      (select digest from pending_page g where g.part = f.part and g.id = f.id and ${inShardSql('g.part', 5)}) as "pendingDigest"
    from unnest($1::smallint[], $2::bigint[], $3::smallint[], $4::integer[]) as k(part, id, name_part, slot)
    join facts f on f.part = k.part and f.id = k.id and ${inShardSql('f.part', 5)}
    left join crawl_state v on v.part = k.name_part and v.slot = k.slot and v.name = f.name and ${inShardSql('v.part', 5)}`,
}

export async function checkFactsPostgres(
  session: Session,
  after: string | null,
  limit: number,
  shards: Shards,
): Promise<CheckSlice> {
  const keys = await nextKeys(session, after, limit, shards)
  const inShard: FactsInShard[] = []
  const known = keys.filter(({ part }) => PARTS.has(part)) // no shard has the others: their rows belong to no name
  for (const { rows, parts } of shards.batches(known, ({ part }) => part)) {
    const owners = await session.rows<FactsOwner>(CHECK_OWNERS, [...factsKeyColumns(rows), parts])
    const names = owners.map(({ name }) => name)
    const columns = [plainArray(names.map(partitionOfName)), plainArray(names.map(slotOf))]
    inShard.push(...(await session.rows<FactsInShard>(CHECK_FACTS, [...factsKeyColumns(owners), ...columns, parts])))
  }
  const presenceSince = await presenceSinceOf(session, shards, inShard)
  const redirects = await redirectsOf(session, shards, inShard)
  const documents = await documentsOf(session, inShard)
  const rows = inShard.map(
    (row, index): CheckedFacts => ({
      ...row,
      ...documents[index]!,
      presenceSince: presenceSince[index]!,
      hasRedirect: redirects.has(row),
    }),
  )
  const last = keys.at(-1)
  return checkFactsRows(
    keys.map(({ id }) => id),
    last && JSON.stringify([last.part, last.id]),
    rows,
  )
}

/** The next keys of all tables, each once. */
async function nextKeys(session: Session, after: string | null, limit: number, shards: Shards): Promise<FactsKey[]> {
  const [part, id] = after === null ? [-1, -1] : (JSON.parse(after) as [number, number])
  const inShards = await readRuns(shards, part, limit, (run, max) =>
    session.rows<FactsKey>(CHECK_IDS, [part, id, max, ...run]),
  )
  const ofPages = await session.rows<FactsKey>(CHECK_PAGE_IDS, [part, id, limit])
  const keys = new Map([...inShards, ...ofPages].map((key) => [`${key.part} ${key.id}`, key]))
  return [...keys.values()].sort((a, b) => a.part - b.part || a.id - b.id).slice(0, limit)
}

function factsKeyColumns(keys: readonly FactsKey[]): string[] {
  return [plainArray(keys.map(({ part }) => part)), plainArray(keys.map(({ id }) => id))]
}

/** For each row, the JSON array of `since` of its addresses; null for an address on which the name is not. */
async function presenceSinceOf(session: Session, shards: Shards, facts: readonly FactsToCheck[]): Promise<string[]> {
  const since: (string | null)[][] = facts.map(() => [])
  const keys = facts.flatMap(({ name, addresses }, row) =>
    (JSON.parse(addresses ?? '[]') as string[]).map((hex, column) => {
      since[row]![column] = null
      return { name, address: Buffer.from(hex, 'hex'), row, column }
    }),
  )
  for (const batch of shards.batches(keys, ({ address }) => partitionOfPackedAddress(address))) {
    const addresses = batch.rows.map(({ address }) => address)
    const columns = [plainArray(addresses.map(partitionOfPackedAddress)), bytesArray(addresses)]
    const names = plainArray(batch.rows.map(({ name }) => name))
    const found = await session.rows<{ position: number; since: string }>(CHECK_PRESENCE_SINCE, [
      ...columns,
      names,
      batch.parts,
    ])
    for (const { position, since: date } of found) {
      const { row, column } = batch.rows[position - 1]!
      since[row]![column] = date
    }
  }
  return since.map((dates) => JSON.stringify(dates))
}

/** The rows whose redirect is stored under its target. */
async function redirectsOf<Row extends FactsToCheck>(
  session: Session,
  shards: Shards,
  facts: readonly Row[],
): Promise<Set<Row>> {
  const found = new Set<Row>()
  const redirecting = facts.filter(({ redirects_to }) => redirects_to !== null)
  const targetOf = (row: Row): DomainName => row.redirects_to as DomainName
  for (const { rows, parts } of shards.batches(redirecting, (row) => partitionOfName(targetOf(row)))) {
    const targets = rows.map(targetOf)
    const columns = [plainArray(targets.map(partitionOfName)), plainArray(targets)]
    const key = [...columns, plainArray(rows.map(({ name }) => name)), parts]
    for (const { position } of await session.rows<{ position: number }>(CHECK_REDIRECTS_OF, key))
      found.add(rows[position - 1]!)
  }
  return found
}

/** What the index of start pages has for each row. */
function documentsOf(
  session: Session,
  facts: readonly FactsToCheck[],
): Promise<Pick<CheckedFacts, 'documentName' | 'document' | 'hasDocument'>[]> {
  return session.rows(CHECK_DOCUMENTS_OF, [
    plainArray(facts.map(({ part }) => part)),
    plainArray(facts.map(({ id }) => id)),
  ])
}
