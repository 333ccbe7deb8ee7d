/** The upkeep of the index of similar texts on PostgreSQL: every write looks at its hold in its transaction, which keeps it. */

import type { DomainName } from '../../../values/domain-name.ts'
import { unpackTerms } from '../../shared/columns.ts'
import type { LockHold } from '../../port/jobs.ts'
import type { FrequencyRow, SimilarIndexStore, PostingRow, StoredDocument } from '../../port/similar.ts'
import { bytesArray, plainArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import { filePendingPages } from './filing.ts'
import { replacedSegmentRemover } from './replaced-segments.ts'
import type { Session } from '../database/transaction.ts'

/** Locked, so that nobody takes the duty before the transaction has ended. */
const CHECK_INDEX_LOCK = {
  name: 'indexing.stands',
  text: `select 1 from duty where duty = 'index' and fence = $1 and holder is not null for share`,
}
const READ_PENDING_PAGES = {
  name: 'indexing.pending',
  text: `select part, id, (select f.name from facts f where f.part = p.part and f.id = p.id) as name, digest, terms from page p
    where (part, id) > ($1, $2) and (part, id) <= ($3, $4) order by part, id limit $5`,
}
const READ_DOCUMENTS = {
  name: 'indexing.wordings',
  text: 'select number as wording, vector from wording where number > $1 order by number limit $2',
}
const BEGIN_SEGMENT = {
  name: 'indexing.begin',
  text: `with ended as (update segment set state = 'replaced' where state = 'building' and fence <> $3)
    insert into segment (first, last, wordings, state, fence) values ($1, $2, 0, 'building', $3) returning number`,
}
const INSERT_POSTINGS = {
  name: 'indexing.post',
  text: `insert into posting (segment, part, place, wording, postings)
    select $1, place >> 22, place, wording, postings from unnest($2::integer[], $3::bigint[], $4::bytea[]) k(place, wording, postings)`,
}
const INSERT_FREQUENCIES = {
  name: 'indexing.count',
  text: 'insert into frequency (segment, last, counts) select $1, * from unnest($2::integer[], $3::bytea[])',
}
const PUBLISH_SEGMENT = {
  name: 'indexing.publish',
  text: `with published as (
      update segment set state = 'answering', wordings = $2 where number = $1 returning first, last)
    update segment s set state = 'replaced' from published p
    where s.state = 'answering' and s.first >= p.first and s.last <= p.last and s.number <> $1`,
}
const READ_POSTINGS = {
  name: 'indexing.rows',
  text: `select place, wording, postings from posting where segment = $1 and (place, wording) > ($2, $3)
    order by place, wording limit $4`,
}
const READ_TOMBSTONES = {
  name: 'indexing.gone',
  text: 'select wording from gone where wording > $1 and wording <= $2 order by wording limit $3',
}
const DELETE_TOMBSTONES = { name: 'indexing.strike', text: 'delete from gone where wording = any ($1::bigint[])' }
const SET_INDEXED_UNTIL = {
  name: 'indexing.follow',
  text: `insert into mark (name, value) values ('followed', $1) on conflict (name) do update set value = excluded.value`,
}

type IndexerDatabase = Pick<Database, 'readLong' | 'transaction'>

export function postgresIndexer({ readLong, transaction }: IndexerDatabase): SimilarIndexStore {
  /** `work` where the hold stands, and `refused` where it does not. */
  const held = <Result>({ fence }: LockHold, refused: Result, work: (session: Session) => Promise<Result>) =>
    transaction(async (session) => ((await session.rows(CHECK_INDEX_LOCK, [fence])).length === 0 ? refused : work(session)))
  const done = (hold: LockHold, work: (session: Session) => Promise<unknown>): Promise<boolean> =>
    held(hold, false, async (session) => {
      await work(session)
      return true
    })
  const sweep = replacedSegmentRemover()
  return {
    pending: pendingPageReader(readLong),
    filePages: (hold, filings) => done(hold, (session) => filePendingPages(session, filings)),
    documents: (after, limit) => readLong<StoredDocument>(READ_DOCUMENTS, [after, limit]),
    beginSegment: (hold, first, last) =>
      held(hold, null as number | null, async ({ rows }) => {
        const [segmentRow] = await rows<{ number: number }>(BEGIN_SEGMENT, [first, last, hold.fence])
        return segmentRow!.number
      }),
    writeRows: (hold, segment, postings, frequencies) =>
      done(hold, (session) => insertSegmentRows(session, segment, postings, frequencies)),
    publishSegment: (hold, segment, documents) => done(hold, ({ run }) => run(PUBLISH_SEGMENT, [segment, documents])),
    removeReplaced: (hold, limit) => sweep((work) => held(hold, null, work), limit),
    rows: (segment, after, limit) =>
      readLong<PostingRow>(READ_POSTINGS, [segment, after?.key ?? -1, after?.document ?? 0, limit]),
    tombstones: async (after, last, limit) =>
      (await readLong<{ document: number }>(READ_TOMBSTONES, [after, last, limit])).map(({ document: wording }) => wording),
    removeTombstones: (hold, documents) => done(hold, ({ run }) => run(DELETE_TOMBSTONES, [plainArray(documents)])),
    setIndexedUntil: (hold, until) => done(hold, ({ run }) => run(SET_INDEXED_UNTIL, [String(until)])),
  }
}

type PageKey = readonly [part: number, id: number]
const FIRST_PAGE_KEY: PageKey = [-1, -1]
const LAST_PAGE_KEY: PageKey = [256, 0]

/**
 * Each time those behind the ones of last time, and from the first again at the end: rows that were taken away stay in the way of
 * whoever begins at the first, until they are swept.
 */
function pendingPageReader(read: Database['readLong']): SimilarIndexStore['pending'] {
  type Row = { part: number; id: number; name: DomainName | null; digest: string; terms: Uint8Array }
  let after = FIRST_PAGE_KEY
  return async (limit) => {
    const from = after
    const rows = await read<Row>(READ_PENDING_PAGES, [...from, ...LAST_PAGE_KEY, limit])
    if (rows.length < limit && from !== FIRST_PAGE_KEY)
      rows.push(...(await read<Row>(READ_PENDING_PAGES, [...FIRST_PAGE_KEY, ...from, limit - rows.length])))
    const last = rows.at(-1)
    after = last && rows.length === limit ? [last.part, last.id] : FIRST_PAGE_KEY
    return rows.flatMap(({ id, name, digest, terms }) =>
      name === null ? [] : [{ id, name, digest, terms: unpackTerms(terms) }],
    )
  }
}

async function insertSegmentRows(
  { run }: Session,
  segment: number,
  postings: readonly PostingRow[],
  frequencies: readonly FrequencyRow[],
): Promise<void> {
  const places = plainArray(postings.map(({ key: place }) => place))
  const documents = plainArray(postings.map(({ document }) => document))
  const lasts = plainArray(frequencies.map(({ last }) => last))
  await Promise.all([
    postings.length > 0 && run(INSERT_POSTINGS, [segment, places, documents, bytesArray(postings.map((row) => row.postings))]),
    frequencies.length > 0 && run(INSERT_FREQUENCIES, [segment, lasts, bytesArray(frequencies.map(({ counts }) => counts))]),
  ])
}
