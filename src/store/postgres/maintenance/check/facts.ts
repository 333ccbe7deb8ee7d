/** Checks facts: the rows of one id belong to one name, are consistent, and match the shared rows. */

import { RECORD_TYPE_NUMBERS } from '../../../../apply/stored-numbers.ts'
import { type DomainName, slotOf } from '../../../../values/domain-name.ts'
import type { CheckedFacts } from '../../../shared/check/facts.ts'
import { checkFactsRows } from '../../../shared/check/rows.ts'
import type { CheckSlice } from '../../../shared/check/slice.ts'
import { plainArray } from '../../database/arrays.ts'
import { readRuns } from '../../database/citus/part-runs.ts'
import { PART_VALUES, partitionOfName, partitionOfPackedAddress } from '../../database/partition.ts'
import { matchRows, readForRows, rowStatement, runStatement } from '../../database/row-statements.ts'
import type { Shards } from '../../database/shards.ts'
import type { Session } from '../../database/transaction.ts'
import { FACTS_SELECT_COLUMNS } from '../../facts/observations.ts'
import { PAGE_KEY } from '../../facts/page-removal.ts'

type FactsToCheck = Pick<CheckedFacts, 'id' | 'name' | 'addresses' | 'redirects_to'> & { part: number }

/** A row that names share, by its key (an address or a target) and its name. */
type SharedKey<Key> = { part: number; key: Key; name: DomainName }

const CHECK_PRESENCE_SINCE = rowStatement<SharedKey<Uint8Array>>(
  'check.presence-since',
  { part: 'smallint', key: 'bytes', name: 'word' },
  ({ numberedRows, inShard }) =>
    `select k.position, p.since from ${numberedRows}
    join presence p on p.part = k.part and p.address = k.key and p.name = k.name and ${inShard('p.part')}`,
)
const CHECK_REDIRECTS_OF = rowStatement<SharedKey<DomainName>>(
  'check.redirects-of',
  { part: 'smallint', key: 'word', name: 'word' },
  ({ numberedRows, inShard }) =>
    `select k.position from ${numberedRows}
    join redirect r on r.part = k.part and r.target = k.key and r.source = k.name and ${inShard('r.part')}`,
)
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
const OWN_TABLES = ['facts', 'dns_state', 'dns_interruption', 'address_first_seen', 'pending_page']
/** The ids of the rows of all tables of a shard. */
const CHECK_IDS = runStatement(
  'check.ids',
  3,
  ({ inRun }) =>
    `${OWN_TABLES.map((table) => nextKeysSql(table, inRun('t.part'))).join(' union ')} order by part, id limit $3`,
)
const CHECK_PAGE_IDS = { name: 'check.page-ids', text: nextKeysSql('page_document', 'true') }
const CHECK_OWNERS = rowStatement<FactsKey>(
  'check.owners',
  PAGE_KEY,
  ({ rows, inShard }) =>
    `select f.part, f.id, f.name, f.redirects_to from ${rows}
    join facts f on f.part = k.part and f.id = k.id and ${inShard('f.part')}`,
)
/** Each row with its name's crawl state, found by the slot of the name. */
const CHECK_FACTS = rowStatement<FactsKey & { name_part: number; slot: number }>(
  'check.facts',
  { ...PAGE_KEY, name_part: 'smallint', slot: 'integer' },
  ({ rows, inShard }) =>
    `select f.part, f.id, f.name, ${FACTS_SELECT_COLUMNS}, v.id as "stateId", v.clock, v.other_clocks as "otherClocks",
      v.dns_fingerprint as "dnsFingerprint", true as "isIntact",
      coalesce((select json_agg(json_build_object('type', type, 'first_seen', first_seen, 'last_confirmed', last_confirmed,
          'serial', serial, 'base', base_first_seen, 'isFull', (records is not null)::integer,
          'addresses', case when type in (${RECORD_TYPE_NUMBERS.A}, ${RECORD_TYPE_NUMBERS.AAAA}) then records end))
        from dns_state s where s.part = f.part and s.id = f.id and ${inShard('s.part')}), '[]')::text as superseded,
      coalesce((select json_agg(json_build_array(type, last_seen, seen_again)) from dns_interruption i
        where i.part = f.part and i.id = f.id and ${inShard('i.part')}), '[]')::text as interruptions,
      coalesce((select json_agg(json_build_array(encode(address, 'hex'), first_seen)) from address_first_seen e
        where e.part = f.part and e.id = f.id and ${inShard('e.part')}), '[]')::text as "firstSeen",
      (select digest from pending_page g where g.part = f.part and g.id = f.id and ${inShard('g.part')}) as "pendingDigest"
    from ${rows} join facts f on f.part = k.part and f.id = k.id and ${inShard('f.part')}
    left join crawl_state v on v.part = k.name_part and v.slot = k.slot and v.name = f.name and ${inShard('v.part')}`,
)

export async function checkFactsPostgres(
  session: Session,
  after: string | null,
  limit: number,
  shards: Shards,
): Promise<CheckSlice> {
  const keys = await nextKeys(session, after, limit, shards)
  const known = keys.filter(({ part }) => PARTS.has(part)) // no shard has the others: their rows belong to no name
  const rows = await checkedFactsOf(session, shards, known)
  const last = keys.at(-1)
  return checkFactsRows(
    keys.map(({ id }) => id),
    last && JSON.stringify([last.part, last.id]),
    rows,
    keys.map(({ part, id }) => `${part} ${id}`),
  )
}

/** What the check reads of the facts with these keys, of those that exist. */
export async function checkedFactsOf(
  session: Session,
  shards: Shards,
  keys: readonly FactsKey[],
): Promise<CheckedFacts[]> {
  const owners = await readForRows<FactsOwner, FactsKey>(session.rows, shards, CHECK_OWNERS, keys)
  const inShard = await readForRows<FactsInShard, FactsKey & { name_part: number; slot: number }>(
    session.rows,
    shards,
    CHECK_FACTS,
    owners.map(({ part, id, name }) => ({ part, id, name_part: partitionOfName(name), slot: slotOf(name) })),
  )
  const presenceSince = await presenceSinceOf(session, shards, inShard)
  const redirects = await redirectsOf(session, shards, inShard)
  const documents = await documentsOf(session, inShard)
  return inShard.map(
    (row, index): CheckedFacts => ({
      ...row,
      ...documents[index]!,
      presenceSince: presenceSince[index]!,
      hasRedirect: redirects.has(row),
    }),
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

/** For each row, the JSON array of `since` of its addresses; null for an address on which the name is not. */
async function presenceSinceOf(session: Session, shards: Shards, facts: readonly FactsToCheck[]): Promise<string[]> {
  const since: (string | null)[][] = facts.map(() => [])
  const keys = facts.flatMap(({ name, addresses }, row) =>
    (JSON.parse(addresses ?? '[]') as string[]).map((hex, column) => {
      since[row]![column] = null
      const key = Buffer.from(hex, 'hex')
      return { part: partitionOfPackedAddress(key), key, name, row, column }
    }),
  )
  type Since = { position: number; since: string }
  const found = await matchRows<Since, SharedKey<Uint8Array>>(session.rows, shards, CHECK_PRESENCE_SINCE, keys)
  for (const { row: key, result } of found) {
    const { row, column } = key as (typeof keys)[number]
    since[row]![column] = result.since
  }
  return since.map((dates) => JSON.stringify(dates))
}

/** The rows whose redirect is stored under its target. */
async function redirectsOf<Row extends FactsToCheck>(
  session: Session,
  shards: Shards,
  facts: readonly Row[],
): Promise<Set<Row>> {
  const keys = facts.flatMap((row) => {
    const key = row.redirects_to as DomainName | null
    return key === null ? [] : [{ part: partitionOfName(key), key, name: row.name, row }]
  })
  type Position = { position: number }
  const found = await matchRows<Position, SharedKey<DomainName>>(session.rows, shards, CHECK_REDIRECTS_OF, keys)
  return new Set(found.map(({ row: key }) => (key as (typeof keys)[number]).row))
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
