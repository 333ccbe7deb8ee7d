/**
 * `npm run bench:similar`: measures how well, how fast and in how much space the index finds similar start pages.
 * Uses SQLite, or PostgreSQL with `--only postgres`. `--only labelled` measures the labelled pages alone, and
 * `--only topics` what a topic space would change for them.
 */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openSimilarityService } from '../src/similar/query/similarity-service.ts'
import type { DomainName } from '../src/values/domain-name.ts'
import { readOptions } from './measure/options.ts'
import { makeTemporaryFolder } from './measure/process.ts'
import { type Metric, metric, metricWithMin, report } from './measure/report.ts'
import { indexMetrics, sizeMetrics } from './similar/indexing.ts'
import { precisionAt, readLabelled } from './similar/labelled.ts'
import { openPostgresStore } from './similar/postgres.ts'
import { LIMIT, queryMetrics, RECALL_QUERIES, recallMetrics, SPEED_QUERIES } from './similar/queries.ts'
import { rerankingMetrics } from './similar/reranking.ts'
import { PARKED_PAGES } from './similar/sample.ts'
import { openSqliteStore } from './similar/sqlite.ts'
import { indexAll, storePages } from './similar/store.ts'

const { names: count, rounds, folder: givenFolder, only } = readOptions(50_000, 0, 5)
const isPostgres = only === 'postgres'
const folder = givenFolder ?? makeTemporaryFolder()
mkdirSync(folder, { recursive: true })
const POSTGRES_NOTES = [
  'PostgreSQL 18 on the same machine, durable; per core: processor time of the process that indexes or queries, and separately that of all server processes',
  'vacuumed and analyzed after indexing, as autovacuum does in time; sizes include indexes, TOAST and free space',
]

try {
  const metrics =
    only === 'topics'
      ? rerankingMetrics(readLabelled() ?? [])
      : [...(only === 'labelled' ? [] : await syntheticMetrics()), ...(isPostgres ? [] : await labelledMetrics())]
  if (only === 'topics') report('similar-topics', metrics, ['exact cosines of the labelled texts, each once'], null)
  else report(isPostgres ? `similar-postgres-${count}` : `similar-${count}`, metrics, notes(), null)
} finally {
  if (givenFolder === null) rmSync(folder, { recursive: true, force: true })
}

/** Measures the synthetic pages. */
async function syntheticMetrics(): Promise<Metric[]> {
  const similarStore = isPostgres
    ? await openPostgresStore(folder, `similar_${count}`)
    : await openSqliteStore(join(folder, `similar-${count}.db`))
  try {
    const indexed = similarStore.isNew ? await indexMetrics(similarStore, count) : []
    await similarStore.settle()
    const reader = await similarStore.openReader()
    try {
      return [
        ...indexed,
        ...(await queryMetrics({ ...similarStore, store: reader }, count, rounds)),
        ...(await sizeMetrics(similarStore, count)),
        ...(await recallMetrics(reader, count)),
      ]
    } finally {
      await reader.close()
    }
  } finally {
    await similarStore.close()
  }
}

async function labelledMetrics(): Promise<Metric[]> {
  const labelled = readLabelled()
  if (labelled === null) return []
  const labelledFolder = makeTemporaryFolder()
  const similarStore = await openSqliteStore(join(labelledFolder, 'labelled.db'))
  try {
    await storePages(similarStore.store, labelled)
    await indexAll(similarStore)
    const service = openSimilarityService(similarStore.store)
    const indexes = new Map(labelled.map(({ name }, index) => [name, index]))
    const neighbours: number[][] = []
    for (const { name } of labelled)
      neighbours.push((await service.similar(name as DomainName, LIMIT))!.map(({ target }) => indexes.get(target)!))
    const precisionAtOne = precisionAt(1, labelled, (at, k) => neighbours[at]!.slice(0, k))
    const precisionAtTen = precisionAt(10, labelled, (at, k) => neighbours[at]!.slice(0, k))
    return [
      metricWithMin('labelled texts, first of the same category', precisionAtOne.all, '', 0.8),
      metricWithMin('labelled texts, first ten of the same category', precisionAtTen.all, '', 0.65),
      metric('without exact twins, first', precisionAtOne.withoutTwins, ''),
      metric('without exact twins, first ten', precisionAtTen.withoutTwins, ''),
    ]
  } finally {
    await similarStore.close()
    rmSync(labelledFolder, { recursive: true })
  }
}

function notes(): string[] {
  return [
    `${count.toLocaleString('en')} pages and ${PARKED_PAGES.toLocaleString('en')} parked pages with one text; ${SPEED_QUERIES} queries of 100 rows per round, ${rounds} rounds`,
    `recall by ${RECALL_QUERIES} queries against the exact TF-IDF cosine over all words`,
    ...(isPostgres ? POSTGRES_NOTES : []),
  ]
}
