/** Measures how fast the index answers, what a query reads, and how many of the nearest pages it finds. */

import { maxRowsFor, QUERY_LIMITS } from '../../src/similar/query/query-terms.ts'
import { openSimilarityService, type SimilarityService } from '../../src/similar/query/similarity-service.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { type Metric, metric, metricWithMax, metricWithMin } from '../measure/report.ts'
import { median, medianOf, quantile } from '../measure/rounds.ts'
import { countReads, type QueryReads } from './count-reads.ts'
import { findExactNeighbours, recallAt } from './exact/exact.ts'
import { allPages, chooseQueries, hasRecall, sampleParkedPages } from './sample.ts'
import { measureTime, type SimilarStore, type TimeSpent } from './store.ts'

/** The number of queries for the recall, and for the speed in each round. */
export const RECALL_QUERIES = 200
export const SPEED_QUERIES = 400
export const LIMIT = 100

type QueryRound = { time: TimeSpent; milliseconds: number[] }
/** A store with the service that queries it. */
type QueryableStore = SimilarStore & { service: SimilarityService }

/**
 * Measures queries on an index of `count` pages. Each round asks for other pages, so that no answer is cached. The first
 * round is not measured: it fills the caches of a process that has just started.
 */
export async function queryMetrics(similarStore: SimilarStore, count: number, rounds: number): Promise<Metric[]> {
  const store: QueryableStore = { ...similarStore, service: openSimilarityService(similarStore.store) }
  const total = (1 + rounds) * SPEED_QUERIES
  const names = chooseQueries(count, total, total)
  const queriesOf = (round: number): DomainName[] => names.filter((_, at) => at % (1 + rounds) === round)
  await runQueries(store, queriesOf(0))
  const all: QueryRound[] = []
  for (let round = 1; round <= rounds; round++) all.push(await runQueries(store, queriesOf(round)))
  return [
    ...speedMetrics(all, count),
    ...(similarStore.serverCpuSeconds ? serverMetrics(all) : []),
    ...(await parkedMetrics(store)),
    ...(await readMetrics(similarStore.store, queriesOf(0))),
  ]
}

async function runQueries(
  { service, serverCpuSeconds }: QueryableStore,
  names: readonly DomainName[],
): Promise<QueryRound> {
  const milliseconds: number[] = []
  const { time } = await measureTime(serverCpuSeconds, async () => {
    for (const name of names) {
      const startedAt = performance.now()
      await service.similar(name, LIMIT)
      milliseconds.push(performance.now() - startedAt)
    }
  })
  const share = (seconds: number): number => seconds / names.length
  return {
    time: { cpu: share(time.cpu), serverCpuSeconds: share(time.serverCpuSeconds), wall: share(time.wall) },
    milliseconds,
  }
}

function speedMetrics(rounds: readonly QueryRound[], count: number): Metric[] {
  const all = rounds.flatMap(({ milliseconds }) => milliseconds)
  const target = count <= 50_000 ? 400 : 200
  const rate = 1 / medianOf(rounds, ({ time }) => time.cpu)
  return [
    count <= 500_000 ? metricWithMin('queries', rate, '1/s per core', target) : metric('queries', rate, '1/s per core'),
    metric('a query, p50', median(all), 'ms'),
    metric('a query, p99', quantile(all, 0.99), 'ms'),
  ]
}

function serverMetrics(rounds: readonly QueryRound[]): Metric[] {
  const medianTime = (pick: (time: TimeSpent) => number): number => medianOf(rounds, ({ time }) => pick(time))
  return [
    metric('queries one after another, by wall time', 1 / medianTime(({ wall }) => wall), '1/s'),
    metric(
      'queries, with server time',
      1 / medianTime(({ cpu, serverCpuSeconds }) => cpu + serverCpuSeconds),
      '1/s per core',
    ),
    metric('server time of a query', 1000 * medianTime(({ serverCpuSeconds }) => serverCpuSeconds), 'ms'),
  ]
}

async function parkedMetrics(store: QueryableStore): Promise<Metric[]> {
  const names = [...sampleParkedPages(50)].map(({ name }) => name as DomainName)
  const { milliseconds } = await runQueries(store, names)
  const rows = (await store.service.similar(names[7]!, LIMIT))!
  if (rows.length !== LIMIT || rows.some(({ similarity }) => similarity !== 1))
    throw new Error('the neighbours of a parked page are not its duplicates')
  return [metricWithMax('a page with 100,000 duplicates, the slowest of 50', Math.max(...milliseconds), 'ms', 50)]
}

/** The maximum that any query read, compared with its limits. */
async function readMetrics(store: Store, queries: readonly DomainName[]): Promise<Metric[]> {
  const { similar, reads } = countReads(store.similar)
  const service = openSimilarityService({ similar })
  await service.similar(queries[0]!, LIMIT)
  const all: QueryReads[] = []
  for (const name of queries) {
    reads.start()
    await service.similar(name, LIMIT)
    all.push(reads.end())
  }
  const maxOf = (pick: (each: QueryReads) => number): number => Math.max(...all.map(pick))
  const segments = await similar.segments()
  const maxRows = maxRowsFor(segments.reduce((sum, { documents }) => sum + documents, 0))
  return [
    metricWithMax(
      'rows of postings of a query, maximum',
      maxOf((each) => each.rows),
      '',
      maxRows + QUERY_LIMITS.terms * segments.length,
    ),
    metric(
      'rows of postings of a query, median',
      medianOf(all, (each) => each.rows),
      '',
    ),
    metricWithMax(
      'vectors that a query reads, maximum',
      maxOf((each) => each.vectors),
      '',
      QUERY_LIMITS.cosines,
    ),
    metric(
      'vectors that a query reads, median',
      medianOf(all, (each) => each.vectors),
      '',
    ),
  ]
}

/** Recall against the exact cosine. Returns no metrics if there are too many pages for exact cosines. */
export async function recallMetrics(store: Store, count: number): Promise<Metric[]> {
  if (!hasRecall(count)) return []
  const service = openSimilarityService(store)
  const queries = chooseQueries(count, Math.max(SPEED_QUERIES, RECALL_QUERIES), RECALL_QUERIES).slice(0, RECALL_QUERIES)
  const found = new Map<string, string[]>()
  for (const name of queries)
    found.set(
      name,
      (await service.similar(name, LIMIT))!.map(({ target }) => target),
    )
  const exact = findExactNeighbours(allPages(count), queries, LIMIT)
  return [
    metricWithMin('recall at 10 against the exact cosine', recallAt(10, found, exact), '', 0.95),
    metricWithMin('recall at 100', recallAt(100, found, exact), '', 0.9),
  ]
}
