/** The upkeep of the index of similar texts on PostgreSQL: every write looks at its hold in its transaction, which keeps it. */

import type { Name } from '../../words/name.ts'
import { unpackTerms } from '../columns.ts'
import type { Hold } from '../jobs.ts'
import type { FrequencyRow, Indexing, PostingRow, Wording } from '../similar.ts'
import { bytesArray, plainArray } from './arrays.ts'
import type { Database } from './database.ts'
import { file } from './filing.ts'
import { sweeper } from './sweeping.ts'
import type { Session } from './writer.ts'

/** Locked, so that nobody takes the duty before the transaction has ended. */
const STANDS = {
  name: 'indexing.stands',
  text: `select 1 from duty where duty = 'index' and fence = $1 and holder is not null for share`,
}
const PENDING = {
  name: 'indexing.pending',
  text: `select part, id, (select f.name from facts f where f.part = p.part and f.id = p.id) as name, digest, terms from page p
    where (part, id) > ($1, $2) and (part, id) <= ($3, $4) order by part, id limit $5`,
}
const WORDINGS = {
  name: 'indexing.wordings',
  text: 'select number as wording, vector from wording where number > $1 order by number limit $2',
}
const BEGIN = {
  name: 'indexing.begin',
  text: `with ended as (update segment set state = 'replaced' where state = 'building' and fence <> $3)
    insert into segment (first, last, wordings, state, fence) values ($1, $2, 0, 'building', $3) returning number`,
}
const POST = {
  name: 'indexing.post',
  text: `insert into posting (segment, part, place, wording, postings)
    select $1, place >> 22, place, wording, postings from unnest($2::integer[], $3::bigint[], $4::bytea[]) k(place, wording, postings)`,
}
const COUNT = {
  name: 'indexing.count',
  text: 'insert into frequency (segment, last, counts) select $1, * from unnest($2::integer[], $3::bytea[])',
}
const PUBLISH = {
  name: 'indexing.publish',
  text: `with published as (
      update segment set state = 'answering', wordings = $2 where number = $1 returning first, last)
    update segment s set state = 'replaced' from published p
    where s.state = 'answering' and s.first >= p.first and s.last <= p.last and s.number <> $1`,
}
const ROWS = {
  name: 'indexing.rows',
  text: `select place, wording, postings from posting where segment = $1 and (place, wording) > ($2, $3)
    order by place, wording limit $4`,
}
const GONE = {
  name: 'indexing.gone',
  text: 'select wording from gone where wording > $1 and wording <= $2 order by wording limit $3',
}
const STRIKE = { name: 'indexing.strike', text: 'delete from gone where wording = any ($1::bigint[])' }
const FOLLOW = {
  name: 'indexing.follow',
  text: `insert into mark (name, value) values ('followed', $1) on conflict (name) do update set value = excluded.value`,
}

type Ways = Pick<Database, 'readLong' | 'transaction'>

export function indexingOf({ readLong, transaction }: Ways): Indexing {
  /** `work` where the hold stands, and `refused` where it does not. */
  const held = <Result>({ fence }: Hold, refused: Result, work: (session: Session) => Promise<Result>) =>
    transaction(async (session) => ((await session.rows(STANDS, [fence])).length === 0 ? refused : work(session)))
  const done = (hold: Hold, work: (session: Session) => Promise<unknown>): Promise<boolean> =>
    held(hold, false, async (session) => {
      await work(session)
      return true
    })
  const sweep = sweeper()
  return {
    pending: pendingOf(readLong),
    file: (hold, filings) => done(hold, (session) => file(session, filings)),
    wordings: (after, limit) => readLong<Wording>(WORDINGS, [after, limit]),
    begin: (hold, first, last) =>
      held(hold, null as number | null, async ({ rows }) => {
        const [begun] = await rows<{ number: number }>(BEGIN, [first, last, hold.fence])
        return begun!.number
      }),
    write: (hold, segment, postings, frequencies) =>
      done(hold, (session) => write(session, segment, postings, frequencies)),
    publish: (hold, segment, wordings) => done(hold, ({ run }) => run(PUBLISH, [segment, wordings])),
    sweep: (hold, limit) => sweep((work) => held(hold, null, work), limit),
    rows: (segment, after, limit) =>
      readLong<PostingRow>(ROWS, [segment, after?.place ?? -1, after?.wording ?? 0, limit]),
    gone: async (after, last, limit) =>
      (await readLong<{ wording: number }>(GONE, [after, last, limit])).map(({ wording }) => wording),
    strike: (hold, wordings) => done(hold, ({ run }) => run(STRIKE, [plainArray(wordings)])),
    follow: (hold, until) => done(hold, ({ run }) => run(FOLLOW, [String(until)])),
  }
}

type Key = readonly [part: number, id: number]
const FIRST: Key = [-1, -1]
const LAST: Key = [256, 0]

/**
 * Each time those behind the ones of last time, and from the first again at the end: rows that were taken away stay in the way of
 * whoever begins at the first, until they are swept.
 */
function pendingOf(read: Database['readLong']): Indexing['pending'] {
  type Row = { part: number; id: number; name: Name | null; digest: string; terms: Uint8Array }
  let after = FIRST
  return async (limit) => {
    const from = after
    const rows = await read<Row>(PENDING, [...from, ...LAST, limit])
    if (rows.length < limit && from !== FIRST)
      rows.push(...(await read<Row>(PENDING, [...FIRST, ...from, limit - rows.length])))
    const last = rows.at(-1)
    after = last && rows.length === limit ? [last.part, last.id] : FIRST
    return rows.flatMap(({ id, name, digest, terms }) =>
      name === null ? [] : [{ id, name, digest, terms: unpackTerms(terms) }],
    )
  }
}

async function write(
  { run }: Session,
  segment: number,
  postings: readonly PostingRow[],
  frequencies: readonly FrequencyRow[],
): Promise<void> {
  const places = plainArray(postings.map(({ place }) => place))
  const wordings = plainArray(postings.map(({ wording }) => wording))
  const lasts = plainArray(frequencies.map(({ last }) => last))
  await Promise.all([
    postings.length > 0 && run(POST, [segment, places, wordings, bytesArray(postings.map((row) => row.postings))]),
    frequencies.length > 0 && run(COUNT, [segment, lasts, bytesArray(frequencies.map(({ counts }) => counts))]),
  ])
}
