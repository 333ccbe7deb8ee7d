/** What other tables have of facts that are checked: rows of addresses and targets, which may be in other shards. */

import type { DomainName } from '../../../../values/domain-name.ts'
import type { CheckedFacts } from '../../../shared/check/facts.ts'
import { bytesArray, plainArray } from '../../database/arrays.ts'
import { partitionOfName, partitionOfPackedAddress } from '../../database/partition.ts'
import { inShardSql, type Shards } from '../../database/shards.ts'
import type { Session } from '../../database/transaction.ts'

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

/** For each row, the JSON array of `since` of its addresses; null for an address on which the name is not. */
export async function presenceSinceOf(
  session: Session,
  shards: Shards,
  facts: readonly FactsToCheck[],
): Promise<string[]> {
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
export async function redirectsOf<Row extends FactsToCheck>(
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
export function documentsOf(
  session: Session,
  facts: readonly FactsToCheck[],
): Promise<Pick<CheckedFacts, 'documentName' | 'document' | 'hasDocument'>[]> {
  return session.rows(CHECK_DOCUMENTS_OF, [
    plainArray(facts.map(({ part }) => part)),
    plainArray(facts.map(({ id }) => id)),
  ])
}
