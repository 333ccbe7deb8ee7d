/** Checks facts: the rows of one id belong to one name, are consistent, and match the shared rows. */

import { RECORD_TYPE_NUMBERS } from '../../../../apply/stored-numbers.ts'
import { type DomainName, slotOf } from '../../../../values/domain-name.ts'
import type { CheckedFacts } from '../../../shared/check/facts.ts'
import { checkFactsRows } from '../../../shared/check/rows.ts'
import type { CheckSlice } from '../../../shared/check/slice.ts'
import { plainArray } from '../../database/arrays.ts'
import { addressPartitionSql, partitionOfName } from '../../database/partition.ts'
import type { Session } from '../../database/transaction.ts'
import { FACTS_SELECT_COLUMNS } from '../../facts/observations.ts'

type FactsKey = { part: number; id: number }
type FactsOwner = FactsKey & { name: DomainName; redirects_to: DomainName | null }

const nextKeysSql = (table: string): string =>
  `(select distinct part, id from ${table} where (part, id) > ($1, $2) order by part, id limit $3)`
/** The ids of the rows of all tables. */
const CHECK_IDS = {
  name: 'check.ids',
  text: `${['facts', 'dns_state', 'address_first_seen', 'pending_page', 'page_document'].map(nextKeysSql).join(' union ')} order by part, id limit $3`,
}
const CHECK_OWNERS = {
  name: 'check.owners',
  text: `select f.part, f.id, f.name, f.redirects_to from unnest($1::smallint[], $2::bigint[]) as k(part, id)
    join facts f on f.part = k.part and f.id = k.id`,
}
/** Each row with its name's crawl state, found by the slot of the name. */
const CHECK_FACTS = {
  name: 'check.facts',
  text: `select f.id, f.name, ${FACTS_SELECT_COLUMNS}, v.id as "stateId", v.clock, v.other_clocks as "otherClocks", v.dns_fingerprint as "dnsFingerprint",
      true as "isIntact",
      coalesce((select json_agg(json_build_object('type', type, 'first_seen', first_seen, 'last_confirmed', last_confirmed,
          'serial', serial, 'base', base_first_seen, 'isFull', (records is not null)::integer,
          'addresses', case when type in (${RECORD_TYPE_NUMBERS.A}, ${RECORD_TYPE_NUMBERS.AAAA}) then records end))
        from dns_state s where s.part = f.part and s.id = f.id), '[]')::text as superseded,
      coalesce((select json_agg(json_build_array(encode(address, 'hex'), first_seen)) from address_first_seen e
        where e.part = f.part and e.id = f.id), '[]')::text as "firstSeen",
      coalesce((select json_agg(p.since) from unnest(f.addresses) a
        left join presence p on p.part = ${addressPartitionSql('a')} and p.address = a and p.name = f.name), '[]')::text as "presenceSince",
      (select digest from pending_page g where g.part = f.part and g.id = f.id) as "pendingDigest",
      t.name as "documentName", t.document,
      exists (select 1 from document d where d.part = (t.document & 255)::smallint and d.number = t.document) as "hasDocument",
      exists (select 1 from redirect r where r.part = k.target_part and r.target = f.redirects_to and r.source = f.name)
        as "hasRedirect"
    from unnest($1::smallint[], $2::bigint[], $3::smallint[], $4::integer[], $5::smallint[])
      as k(part, id, name_part, slot, target_part)
    join facts f on f.part = k.part and f.id = k.id
    left join crawl_state v on v.part = k.name_part and v.slot = k.slot and v.name = f.name
    left join page_document t on t.part = f.part and t.id = f.id`,
}

export async function checkFactsPostgres(session: Session, after: string | null, limit: number): Promise<CheckSlice> {
  const from = after === null ? [-1, -1] : (JSON.parse(after) as [number, number])
  const keys = await session.rows<FactsKey>(CHECK_IDS, [...from, limit])
  const owners = await session.rows<FactsOwner>(CHECK_OWNERS, factsKeyColumns(keys))
  const rows = await session.rows<CheckedFacts>(CHECK_FACTS, [
    ...factsKeyColumns(owners),
    plainArray(owners.map(({ name }) => partitionOfName(name))),
    plainArray(owners.map(({ name }) => slotOf(name))),
    plainArray(owners.map(({ redirects_to }) => (redirects_to === null ? null : partitionOfName(redirects_to)))),
  ])
  const last = keys.at(-1)
  return checkFactsRows(
    keys.map(({ id }) => id),
    last && JSON.stringify([last.part, last.id]),
    rows,
  )
}

function factsKeyColumns(keys: readonly FactsKey[]): string[] {
  return [plainArray(keys.map(({ part }) => part)), plainArray(keys.map(({ id }) => id))]
}
