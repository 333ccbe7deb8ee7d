/** The similar texts on PostgreSQL: every answer is a look-up by key or a range of one key for each thing asked, in one statement. */

import type { DomainName } from '../../../values/domain-name.ts'
import { unpackTerms } from '../../shared/columns.ts'
import type { FrequencyRow, PageOfName, Segment, SimilarReader } from '../../port/similar.ts'
import { plainArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import { crawlStateKey } from '../facts/facts.ts'

/**
 * The row of a wording. What is read here for each of many keys is a query of its own for each: a join may be planned otherwise
 * while a table is empty, which these are when the index catches up.
 */
export function documentRowSql(number: string): string {
  return `wording w where w.part = (${number} & 255)::smallint and w.number = ${number}`
}

const READ_PAGE = {
  name: 'similar.page',
  text: `select g.digest, g.terms, r.id as reading, r.wording, w.vector from visit v
    left join lateral (select digest, terms from page g where g.part = v.part and g.id = v.id limit 1) g on true
    left join lateral (select id, wording from reading r where r.part = v.part and r.id = v.id limit 1) r on true
    left join lateral (select vector from ${documentRowSql('r.wording')} limit 1) w on true
    where v.part = $1 and v.slot = $2 and v.name = $3`,
}
const READ_DOCUMENT = { name: 'similar.wording', text: 'select number from wording where digest = $1 and vector = $2' }
const READ_VECTORS = {
  name: 'similar.vectors',
  rowMode: 'array',
  text: `select (select vector from ${documentRowSql('k.wording')})
    from unnest($1::bigint[]) with ordinality k(wording, place) order by k.place`,
} as const
const READ_DOCUMENT_NAMES = {
  name: 'similar.names',
  rowMode: 'array',
  text: `select (select string_agg(name, ',' order by name) from
      (select r.name from reading r where r.wording = k.wording order by r.name limit $2) r)
    from unnest($1::bigint[]) with ordinality k(wording, place) order by k.place`,
} as const
const READ_SEGMENTS = {
  name: 'similar.segments',
  text: `select number as segment, first, last, wordings from segment where state = 'answering' order by first`,
}
const READ_FREQUENCIES = {
  name: 'similar.frequencies',
  text: `select last, counts from frequency where segment = $1 and last > $2
      and exists (select 1 from segment where number = $1 and state = 'answering') order by last limit $3`,
}
/** A statement sees one moment: the segments that answer, and the rows of all of them. */
const READ_POSTING_ROWS = {
  name: 'similar.postings',
  rowMode: 'array',
  text: `with answering as materialized (
      select number, first, wordings::float8 / nullif(sum(wordings) over (), 0)::float8 as share from segment
      where state = 'answering')
    select (select string_agg(p.postings, ''::bytea order by a.first, p.place, p.wording)
      from answering a cross join lateral (
        select p.postings, p.place, p.wording from posting p
        where p.segment = a.number and p.place >= k.place
        order by p.place, p.wording limit greatest(1, ceil(k.rows * a.share))::bigint) p)
    from unnest($1::integer[], $2::integer[]) with ordinality k(place, rows, number) order by k.number`,
} as const
const READ_INDEXED_UNTIL = { name: 'similar.followed', text: `select value from mark where name = 'followed'` }

/** `digest` and `terms`: of a page that waits; `reading`: its id where it is followed. */
type SimilarPageRow = {
  digest: string | null
  terms: Uint8Array
  pageDocumentId: number | null
  document: number | null
  vector: Uint8Array | null
}

/** Answers of hundreds of rows go the way of what takes milliseconds. */
export function postgresSimilar({ read, readLong }: Pick<Database, 'read' | 'readLong'>): SimilarReader {
  return {
    async page(name) {
      const [row] = await read<SimilarPageRow>(READ_PAGE, crawlStateKey(name))
      return row ? pageOfRow(row) : null
    },
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
    async postings(wanted) {
      const columns = [plainArray(wanted.map(({ key: place }) => place)), plainArray(wanted.map(({ rows }) => rows))]
      const answers = await readLong<[Uint8Array | null]>(READ_POSTING_ROWS, columns)
      return answers.map(([postings]) => postings ?? new Uint8Array())
    },
    async indexedUntil() {
      const [row] = await read<{ value: string }>(READ_INDEXED_UNTIL)
      return row ? Number(row.value) : null
    },
  }
}

/** What waits for the index is newer than what it was filed under. */
function pageOfRow({ digest, terms, pageDocumentId: reading, document, vector }: SimilarPageRow): PageOfName | null {
  if (digest !== null) return { terms: unpackTerms(terms) }
  return reading === null ? null : { document, vector }
}
