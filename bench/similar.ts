/**
 * `npm run bench:similar`: how well, how fast and in how much room the index finds start pages that read alike. In
 * SQLite;
 * with `--only postgres` in PostgreSQL, with `--only labelled` those that people sorted alone.
 */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openSimilarityService } from '../src/similar/query/similarity-service.ts'
import type { DomainName } from '../src/values/domain-name.ts'
import { readOptions } from './measure/options.ts'
import { temporary } from './measure/process.ts'
import { atLeast, figure, type Line, report } from './measure/report.ts'
import { indexLines, sizeLines } from './similar/indexed.ts'
import { precisionAt, readLabelled } from './similar/labelled.ts'
import { placeInPostgres } from './similar/postgres.ts'
import { ASKED, askLines, JUDGED, LIMIT, recallLines } from './similar/queries.ts'
import { PARKED } from './similar/sample.ts'
import { placeInSqlite } from './similar/sqlite.ts'
import { bringIn, fill } from './similar/store.ts'

const { names: count, rounds, folder: given, only } = readOptions(50_000, 0, 5)
const inPostgres = only === 'postgres'
const folder = given ?? temporary()
mkdirSync(folder, { recursive: true })
const POSTGRES = [
  'PostgreSQL 18 on the same machine, durable; a core: processor time of the process that indexes or asks; that of all processes of the server is told beside it',
  'vacuumed and analyzed after the indexing, as autovacuum does in time; sizes with indexes and TOAST, free space in them too',
]

try {
  const lines = [...(only === 'labelled' ? [] : await largeLines()), ...(inPostgres ? [] : await labelledLines())]
  report(inPostgres ? `similar-postgres-${count}` : `similar-${count}`, lines, notes(), null)
} finally {
  if (given === null) rmSync(folder, { recursive: true, force: true })
}

/** Everything that is measured on the pages made up. */
async function largeLines(): Promise<Line[]> {
  const place = inPostgres
    ? await placeInPostgres(folder, `similar_${count}`)
    : await placeInSqlite(join(folder, `similar-${count}.db`))
  try {
    const indexed = place.isNew ? await indexLines(place, count) : []
    await place.settle()
    return [
      ...indexed,
      ...(await askLines(place, count, rounds)),
      ...(await sizeLines(place, count)),
      ...(await recallLines(place.store, count)),
    ]
  } finally {
    await place.close()
  }
}

async function labelledLines(): Promise<Line[]> {
  const labelled = readLabelled()
  if (labelled === null) return []
  const own = temporary()
  const place = await placeInSqlite(join(own, 'labelled.db'))
  try {
    await fill(place.store, labelled)
    await bringIn(place)
    const retrieval = openSimilarityService(place.store)
    const places = new Map(labelled.map(({ name }, place) => [name, place]))
    const neighbours: number[][] = []
    for (const { name } of labelled)
      neighbours.push((await retrieval.similar(name as DomainName, LIMIT))!.map(({ target }) => places.get(target)!))
    const first = precisionAt(1, labelled, (at, k) => neighbours[at]!.slice(0, k))
    const ten = precisionAt(10, labelled, (at, k) => neighbours[at]!.slice(0, k))
    return [
      atLeast('labelled texts, of the same category at 1', first.all, '', 0.8),
      atLeast('of the same category at 10', ten.all, '', 0.65),
      figure('the same without exact twins, at 1', first.withoutTwins, ''),
      figure('at 10', ten.withoutTwins, ''),
    ]
  } finally {
    await place.close()
    rmSync(own, { recursive: true })
  }
}

function notes(): string[] {
  return [
    `${count.toLocaleString('en')} pages and ${PARKED.toLocaleString('en')} parked ones of one text; ${ASKED} queries of 100 rows a round, ${rounds} rounds`,
    `recall by ${JUDGED} queries against exact TF-IDF cosine over all words`,
    ...(inPostgres ? POSTGRES : []),
  ]
}
