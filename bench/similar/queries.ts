/** How fast the index answers, what it reads for that, and how much of what is near it finds. */

import { QUERY_LIMITS } from '../../src/similar/query/query-terms.ts'
import { openSimilarityService, type SimilarityService } from '../../src/similar/query/similarity-service.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { median, medianOf, quantile } from '../measure/measure.ts'
import { atLeast, atMost, figure, type Line } from '../measure/report.ts'
import { exactTruth, recallAt } from './exact.ts'
import { everything, isJudged, queriesOf, twins } from './sample.ts'
import { type Place, type Spent, spentOn } from './store.ts'
import { countReads, type Reads } from './work.ts'

/** Pages asked for: of the recall, and of the speed in each round. */
export const JUDGED = 200
export const ASKED = 400
export const LIMIT = 100

type Round = { spent: Spent; milliseconds: number[] }
/** An index with whoever answers from it. */
type Asked = Place & { retrieval: SimilarityService }

/** Everything that is measured on an index of `count` pages by asking it. */
export async function askLines(place: Place, count: number, rounds: number): Promise<Line[]> {
  const asked: Asked = { ...place, retrieval: openSimilarityService(place.store) }
  const queries = queriesOf(count, Math.max(ASKED, JUDGED), JUDGED)
  const all: Round[] = []
  await askAll(asked, queries.slice(0, 50))
  for (let round = 0; round < rounds; round++) all.push(await askAll(asked, queries.slice(0, ASKED)))
  return [
    ...speedLines(all, count),
    ...(place.served ? serverLines(all) : []),
    ...(await parkedLines(asked)),
    ...(await workLines(place.store, queries)),
  ]
}

async function askAll({ retrieval, served }: Asked, names: readonly DomainName[]): Promise<Round> {
  const milliseconds: number[] = []
  const { spent } = await spentOn(served, async () => {
    for (const name of names) {
      const began = performance.now()
      await retrieval.similar(name, LIMIT)
      milliseconds.push(performance.now() - began)
    }
  })
  const share = (seconds: number): number => seconds / names.length
  return { spent: { cpu: share(spent.cpu), served: share(spent.served), wall: share(spent.wall) }, milliseconds }
}

function speedLines(asked: readonly Round[], count: number): Line[] {
  const all = asked.flatMap(({ milliseconds }) => milliseconds)
  const aim = count <= 50_000 ? 400 : 200
  const rate = 1 / medianOf(asked, ({ spent }) => spent.cpu)
  return [
    count <= 500_000 ? atLeast('queries', rate, '1/s a core', aim) : figure('queries', rate, '1/s a core'),
    figure('a query, median', median(all), 'ms'),
    figure('a query, 99 of 100', quantile(all, 0.99), 'ms'),
  ]
}

function serverLines(asked: readonly Round[]): Line[] {
  const of = (pick: (spent: Spent) => number): number => medianOf(asked, ({ spent }) => pick(spent))
  return [
    figure('queries one after another, by the clock', 1 / of(({ wall }) => wall), '1/s'),
    figure("queries, the server's time counted too", 1 / of(({ cpu, served }) => cpu + served), '1/s a core'),
    figure("of a query, the server's time", 1000 * of(({ served }) => served), 'ms'),
  ]
}

async function parkedLines(asked: Asked): Promise<Line[]> {
  const names = [...twins(50)].map(({ name }) => name as DomainName)
  const { milliseconds } = await askAll(asked, names)
  const rows = (await asked.retrieval.similar(names[7]!, LIMIT))!
  if (rows.length !== LIMIT || rows.some(({ similarity }) => similarity !== 1))
    throw new Error('a parked page is not answered with its twins')
  return [atMost('a page with 100,000 twins, the slowest of 50', Math.max(...milliseconds), 'ms', 50)]
}

/** The most that any query read, held against its bounds. */
async function workLines(store: Store, queries: readonly DomainName[]): Promise<Line[]> {
  const { similar, reads } = countReads(store.similar)
  const retrieval = openSimilarityService({ similar })
  await retrieval.similar(queries[0]!, LIMIT)
  const all: Reads[] = []
  for (const name of queries) {
    reads.start()
    await retrieval.similar(name, LIMIT)
    all.push(reads.end())
  }
  const most = (pick: (each: Reads) => number): number => Math.max(...all.map(pick))
  const segments = (await similar.segments()).length
  return [
    atMost(
      'rows of postings of a query, at most',
      most((each) => each.rows),
      '',
      QUERY_LIMITS.rows + QUERY_LIMITS.terms * segments,
    ),
    figure(
      'rows of postings of a query, median',
      medianOf(all, (each) => each.rows),
      '',
    ),
    atMost(
      'vectors of a query, at most',
      most((each) => each.vectors),
      '',
      QUERY_LIMITS.cosines,
    ),
    figure(
      'vectors of a query, median',
      medianOf(all, (each) => each.vectors),
      '',
    ),
  ]
}

/** Found of what exact cosine finds; none of more pages than it can be reckoned of. */
export async function recallLines(store: Store, count: number): Promise<Line[]> {
  if (!isJudged(count)) return []
  const retrieval = openSimilarityService(store)
  const judged = queriesOf(count, Math.max(ASKED, JUDGED), JUDGED).slice(0, JUDGED)
  const found = new Map<string, string[]>()
  for (const name of judged)
    found.set(
      name,
      (await retrieval.similar(name, LIMIT))!.map(({ target }) => target),
    )
  const truth = exactTruth(everything(count), judged, LIMIT)
  return [
    atLeast('recall at 10 against exact cosine', recallAt(10, found, truth), '', 0.95),
    atLeast('recall at 100', recallAt(100, found, truth), '', 0.9),
  ]
}
