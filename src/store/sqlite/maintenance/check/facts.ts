/** Checks facts: the rows of one id belong to one name, are consistent, and match the shared rows. */

import type { DatabaseSync } from 'node:sqlite'
import { RECORD_TYPE_NUMBERS } from '../../../../apply/stored-numbers.ts'
import type { CheckedFacts } from '../../../shared/check/facts.ts'
import { checkFactsRows } from '../../../shared/check/rows.ts'
import type { CheckSlice } from '../../../shared/check/slice.ts'
import type { FactsRow } from '../../../shared/columns.ts'
import { CHECKSUM_COLUMNS, matchesChecksum } from '../../database/checksum.ts'

type FactsWithChecksum = CheckedFacts & { checksum: number | null }

export function checkFactsSqlite(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [from] = after === null ? [-1] : (JSON.parse(after) as [number])
  const ids = idsAfter(database, from, limit)
  const last = ids.at(-1)
  return checkFactsRows(
    ids,
    last === undefined ? last : JSON.stringify([last]),
    checkedFactsRows(database, ids[0] ?? 0, last ?? 0),
  )
}

/** The ids of the rows of all tables, ascending. */
function idsAfter(database: DatabaseSync, after: number, limit: number): number[] {
  const idsOf = (table: string): string =>
    `select * from (select distinct id from ${table} where id > ?1 order by id limit ?2)`
  const rows = database
    .prepare(
      `${['facts', 'dns_state', 'dns_interruption', 'address_first_seen', 'pending_page', 'page_document'].map(idsOf).join(' union ')} order by id limit ?2`,
    )
    .all(after, limit) as { id: number }[]
  return rows.map(({ id }) => id)
}

function* checkedFactsRows(database: DatabaseSync, first: number, last: number): Iterable<CheckedFacts> {
  const statement = database.prepare(
    `select f.*, v.id as stateId, v.clock, v.other_clocks as otherClocks, v.dns_fingerprint as dnsFingerprint,
       (select json_group_array(json_object('type', type, 'first_seen', first_seen, 'last_confirmed', last_confirmed,
          'serial', serial, 'base', base_first_seen, 'isFull', records is not null, 'addresses', iif(type in (${RECORD_TYPE_NUMBERS.A}, ${RECORD_TYPE_NUMBERS.AAAA}), records, null)))
        from dns_state s where s.id = f.id) as superseded,
       (select json_group_array(json_array(type, last_seen, seen_again)) from dns_interruption i where i.id = f.id) as interruptions,
       (select json_group_array(json_array(hex(address), first_seen)) from address_first_seen e where e.id = f.id) as firstSeen,
       iif(json_valid(f.addresses), (select json_group_array(p.since) from json_each(f.addresses) j
          left join presence p on p.address = unhex(j.value) and p.name = f.name), null) as presenceSince,
       (select digest from pending_page g where g.id = f.id) as pendingDigest,
       t.name as documentName, t.document, exists (select 1 from document w where w.number = t.document) and exists (select 1 from page_document x indexed by page_document_document
         where x.document = t.document and x.name = t.name and x.id = t.id) as hasDocument,
       exists (select 1 from redirect r where r.target = f.redirects_to and r.source = f.name) as hasRedirect
     from facts f left join crawl_state v on v.slot = slot(f.name) and v.name = f.name left join page_document t on t.id = f.id
     where f.id between ? and ? order by f.id`,
  )
  for (const row of statement.iterate(first, last) as Iterable<FactsWithChecksum>)
    yield { ...row, isIntact: matchesChecksum(CHECKSUM_COLUMNS.facts, row, (column) => row[column as keyof FactsRow]) }
}
