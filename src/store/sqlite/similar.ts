/** Similar texts on SQLite: whatever is asked of many is one statement, a range of one key for each of them. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Name, slotOf } from '../../words/name.ts'
import { unpackTerms } from '../columns.ts'
import type { FrequencyRow, PageOfName, Segment, Similar, Wanted } from '../similar.ts'
import { snapshot } from './connection.ts'

/** `digest`: of a page that waits; `name`: of one that is followed. */
type PageRow = {
  digest: string | null
  terms: Uint8Array | null
  name: Name | null
  wording: number | null
  vector: Uint8Array | null
}

const SEGMENTS = `select number as segment, first, last, wordings from segment where state = 'answering' order by first`

export function similarOf(database: DatabaseSync): Similar {
  const page = database.prepare(
    `select p.digest, p.terms, r.name, r.wording, w.vector from visit v left join page p on p.id = v.id
     left join reading r on r.id = v.id left join wording w on w.number = r.wording where v.slot = ? and v.name = ?`,
  )
  const wordingOf = database.prepare('select number from wording where digest = ? and vector = ?')
  const vectors = arraysOf(database, 'select j.key, w.vector from json_each(?) j join wording w on w.number = j.value')
  const names = arraysOf(
    database,
    `select j.key, (select json_group_array(name)
       from (select name from reading where wording = j.value order by name limit ?2)) from json_each(?1) j`,
  )
  const segments = database.prepare(SEGMENTS)
  const frequencies = database.prepare(
    `select last, counts from frequency f where segment = ? and last > ?
       and exists (select 1 from segment s where s.number = f.segment and s.state = 'answering') order by last limit ?`,
  )
  const followed = database.prepare(`select cast(value as integer) as until from mark where name = 'followed'`)
  const postings = postingsOf(database)
  return {
    page: async (name) => pageOf(page.get(slotOf(name), name) as PageRow | undefined),
    wordingOf: async (digest, vector) => (wordingOf.get(digest, vector)?.number ?? null) as number | null,
    vectors: async (wordings) => placed(vectors.all(JSON.stringify(wordings)), wordings.length),
    names: async (wordings, limit) =>
      placed<string>(names.all(JSON.stringify(wordings), limit), wordings.length).map((all) => JSON.parse(all!)),
    segments: async () => (segments.all() as Segment[]).map((row) => ({ ...row })),
    frequencies: async (segment, after, limit) =>
      (frequencies.all(segment, after, limit) as FrequencyRow[]).map((row) => ({ ...row })),
    postings: async (wanted) => snapshot(database, () => postings(wanted)),
    followed: async () => (followed.get()?.until ?? null) as number | null,
  }
}

function pageOf(row: PageRow | undefined): PageOfName | null {
  if (row === undefined || (row.digest === null && row.name === null)) return null
  if (row.digest !== null) return { terms: unpackTerms(row.terms!) }
  return { wording: row.wording, vector: row.vector }
}

/** Each read goes through all segments in their order; a statement takes those that read as many rows of a segment. */
function postingsOf(database: DatabaseSync): (wanted: readonly Wanted[]) => Uint8Array[] {
  const segments = database.prepare(SEGMENTS)
  // Joined by SQLite: a third of the time that a row a call takes.
  const read = arraysOf(
    database,
    `select j.key, (select cast(group_concat(postings, '') as blob) from (select postings from posting
       where segment = ?2 and place >= j.value order by place, wording limit ?3)) from json_each(?1) j`,
  )
  return (wanted) => {
    const pieces: Uint8Array[][] = wanted.map(() => [])
    const answering = segments.all() as Segment[]
    const all = answering.reduce((sum, { wordings }) => sum + wordings, 0)
    for (const { segment, wordings } of answering)
      for (const [limit, reads] of Map.groupBy(wanted.keys(), (read) => shareOf(wanted[read]!.rows, wordings, all))) {
        const places = reads.map((place) => wanted[place]!.place)
        const rows = read.all(JSON.stringify(places), segment, limit) as unknown as [number, Uint8Array | null][]
        for (const [key, bytes] of rows) if (bytes) pieces[reads[key]!]!.push(bytes)
      }
    return pieces.map((each) => (each.length === 1 ? each[0]! : Buffer.concat(each)))
  }
}

function shareOf(rows: number, wordings: number, all: number): number {
  return Math.max(1, Math.ceil((rows * wordings) / Math.max(1, all)))
}

function arraysOf(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql)
  statement.setReturnArrays(true)
  return statement
}

/** Rows of a place and a value, in the order of the places; null where none came. */
function placed<Value = Uint8Array>(rows: readonly unknown[], length: number): (Value | null)[] {
  const all = new Array<Value | null>(length).fill(null)
  for (const [place, value] of rows as [number, Value][]) all[place] = value
  return all
}
