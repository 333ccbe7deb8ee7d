/**
 * Similar texts on PostgreSQL: every statement is a look-up by key, or a range of one key for each key of a list. The
 * index is on the coordinator, so no statement reads it together with a distributed table.
 */

import type { DomainName } from '../../../values/domain-name.ts'
import type { FrequencyRow, PageOfName, Segment, SimilarReader } from '../../port/similar.ts'
import { unpackTerms } from '../../shared/columns.ts'
import { plainArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import { crawlStateKey } from '../database/partition.ts'
import type { Session } from '../database/transaction.ts'

/**
 * The row of a document. Statements for many keys use a subquery per key: while a table is empty, as when indexing
 * starts, a join may get a different plan.
 */
export function documentRowSql(number: string): string {
  return `document d where d.part = (${number} & 255)::smallint and d.number = ${number}`
}

const READ_PENDING_PAGE = {
  name: 'similar.pending-page',
  text: `select v.id, g.digest, g.terms from crawl_state v
    left join pending_page g on g.part = v.part and g.id = v.id and g.part = $1
    where v.part = $1 and v.slot = $2 and v.name = $3 and v.id is not null`,
}
const READ_FILED_PAGE = {
  name: 'similar.filed-page',
  text: `select p.document, (select vector from ${documentRowSql('p.document')}) as vector from page_document p
    where p.part = $1 and p.id = $2`,
}
const READ_DOCUMENT = {
  name: 'similar.document',
  text: 'select number from document where digest = $1 and vector = $2',
}
const READ_VECTORS = {
  name: 'similar.vectors',
  rowMode: 'array',
  text: `select (select vector from ${documentRowSql('k.document')})
    from unnest($1::bigint[]) with ordinality k(document, position) order by k.position`,
} as const
const READ_DOCUMENT_NAMES = {
  name: 'similar.names',
  rowMode: 'array',
  text: `select (select string_agg(name, ',' order by name) from
      (select p.name from page_document p where p.document = k.document order by p.name limit $2) p)
    from unnest($1::bigint[]) with ordinality k(document, position) order by k.position`,
} as const
const READ_SEGMENTS = {
  name: 'similar.segments',
  text: `select number as segment, first_document as first, last_document as last, documents from segment
    where state = 'published' order by first_document`,
}
const READ_FREQUENCIES = {
  name: 'similar.frequencies',
  text: `select last_term as last, counts from document_frequency where segment = $1 and last_term > $2
      and exists (select 1 from segment where number = $1 and state = 'published') order by last_term limit $3`,
}
/** One statement reads one snapshot: the published segments and all of their rows. */
const READ_POSTING_ROWS = {
  name: 'similar.postings',
  rowMode: 'array',
  text: `with published as materialized (
      select number, first_document, documents::float8 / nullif(sum(documents) over (), 0)::float8 as share from segment
      where state = 'published')
    select (select string_agg(p.postings, ''::bytea order by s.first_document, p.key, p.document)
      from published s cross join lateral (
        select p.postings, p.key, p.document from posting p
        where p.segment = s.number and p.key >= k.key
        order by p.key, p.document limit greatest(1, ceil(k.rows * s.share))::bigint) p)
    from unnest($1::integer[], $2::integer[]) with ordinality k(key, rows, position) order by k.position`,
} as const
const READ_INDEXED_UNTIL = {
  name: 'similar.indexed-until',
  text: `select value from metadata where name = 'indexed_until'`,
}

/** `digest` null: no page is pending. */
type PendingPageRow = { id: number; digest: string | null; terms: Uint8Array }
type FiledPageRow = { document: number | null; vector: Uint8Array | null }

/** Reads the start page of a name; null if no text is stored. */
export async function readStartPage(read: Session['rows'], name: DomainName): Promise<PageOfName | null> {
  const key = crawlStateKey(name)
  const [page] = await read<PendingPageRow>(READ_PENDING_PAGE, key)
  if (page === undefined) return null
  if (page.digest !== null) return { terms: unpackTerms(page.terms) }
  const [filed] = await read<FiledPageRow>(READ_FILED_PAGE, [key[0], page.id])
  return filed ?? null
}

/** Results with hundreds of rows use the connections for long reads. */
export function postgresSimilar({ read, readLong }: Pick<Database, 'read' | 'readLong'>): SimilarReader {
  return {
    page: (name) => readStartPage(read, name),
    async findDocument(digest, vector) {
      const [row] = await read<{ number: number }>(READ_DOCUMENT, [digest, vector])
      return row?.number ?? null
    },
    async vectors(documents) {
      const rows = await readLong<[Uint8Array | null]>(READ_VECTORS, [plainArray(documents)])
      return rows.map(([vector]) => vector)
    },
    async names(documents, limit) {
      const rows = await read<[string | null]>(READ_DOCUMENT_NAMES, [plainArray(documents), limit])
      return rows.map(([names]) => (names?.split(',') ?? []) as DomainName[])
    },
    segments: () => read<Segment>(READ_SEGMENTS),
    frequencies: (segment, after, limit) => readLong<FrequencyRow>(READ_FREQUENCIES, [segment, after, limit]),
    async postings(reads) {
      const columns = [plainArray(reads.map(({ key }) => key)), plainArray(reads.map(({ rows }) => rows))]
      const results = await readLong<[Uint8Array | null]>(READ_POSTING_ROWS, columns)
      return results.map(([postings]) => postings ?? new Uint8Array())
    },
    async indexedUntil() {
      const [row] = await read<{ value: string }>(READ_INDEXED_UNTIL)
      return row ? Number(row.value) : null
    },
  }
}
