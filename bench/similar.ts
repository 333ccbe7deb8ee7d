/** `npm run bench:similar`: how well, how fast and in how much room the index finds start pages that read alike. */

import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openRetrieval, type Retrieval } from '../src/retrieval/retrieval.ts'
import { QUERY } from '../src/similar/choice.ts'
import type { Store } from '../src/store/store.ts'
import type { Name } from '../src/words/name.ts'
import { median, medianOf, quantile } from './measure.ts'
import { readOptions } from './options.ts'
import { temporary } from './process.ts'
import { atLeast, atMost, figure, type Line, report } from './report.ts'
import { pages, parked } from './similar/corpus.ts'
import { exactTruth, recallAt } from './similar/exact.ts'
import { precisionAt, readLabelled } from './similar/labelled.ts'
import { bringIn, fill, openStoreIn, type Page, type Spent, sizesOf, spentOn } from './similar/store.ts'
import { countReads, type Reads } from './similar/work.ts'

const SEED = 1
const PARKED = 100_000
/** Pages asked for: of the recall, and of the speed in each round. */
const JUDGED = 200
const ASKED = 400
const LIMIT = 100
/** Exact cosines of more pages take more memory than they are worth. */
const JUDGED_PAGES = 1_000_000

/** Characters of a page of very many. */
const BEGINNING = 200

const { names: count, rounds, folder: given, only } = readOptions(50_000, 0, 5)
const folder = given ?? temporary()
mkdirSync(folder, { recursive: true })

type Round = { spent: Spent; milliseconds: number[] }

try {
  const lines = [...(only === 'labelled' ? [] : await largeLines()), ...(await labelledLines())]
  report(`similar-${count}`, lines, notes(), null)
} finally {
  if (given === null) rmSync(folder, { recursive: true, force: true })
}

/** The pages; of very many of them the beginning, or it would take hours to make them. */
function* made(): Generator<Page> {
  for (const { name, text } of pages(SEED, count))
    yield { name, text: count > JUDGED_PAGES ? text.slice(0, BEGINNING) : text }
}

/** Everything that is measured on the pages made up. */
async function largeLines(): Promise<Line[]> {
  const path = join(folder, `similar-${count}.db`)
  const isNew = !existsSync(path)
  const store = await openStoreIn(path)
  try {
    const indexed = isNew ? await make(store) : []
    const retrieval = openRetrieval(store)
    const queries = queriesOf(Math.max(ASKED, JUDGED))
    const asked: Round[] = []
    await askAll(retrieval, queries.slice(0, 50))
    for (let round = 0; round < rounds; round++) asked.push(await askAll(retrieval, queries.slice(0, ASKED)))
    return [
      ...indexed,
      ...speedLines(asked),
      ...(await parkedLines(retrieval)),
      ...(await workLines(store, queries)),
      ...sizeLines(path),
      ...(count > JUDGED_PAGES ? [] : await recallLines(retrieval, queries)),
    ]
  } finally {
    await store.close()
  }
}

async function make(store: Store): Promise<Line[]> {
  await fill(store, made())
  const own = await bringIn(store)
  await fill(store, parked(SEED, PARKED))
  const same = await bringIn(store)
  const segments = await store.similar.segments()
  return [
    atLeast('pages indexed, each with a text of its own but for 3 %', own.filed / own.spent.cpu, '1/s a core', 2000),
    figure('the same by the clock', own.filed / own.spent.wall, '1/s'),
    figure('100,000 parked pages of one text', same.filed / same.spent.cpu, '1/s a core'),
    figure('segments afterwards', segments.length, ''),
  ]
}

/** Pages from all of the corpus. */
function queriesOf(asked: number): Name[] {
  const wanted = new Set(Array.from({ length: asked }, (_, at) => Math.floor(((at + 0.5) * count) / asked)))
  const names: Name[] = []
  let place = 0
  for (const { name } of pages(SEED, count)) if (wanted.has(place++)) names.push(name as Name)
  const step = Math.max(1, Math.floor(asked / JUDGED))
  return [...names.filter((_, at) => at % step === 0), ...names.filter((_, at) => at % step !== 0)]
}

async function askAll(retrieval: Retrieval, names: readonly Name[]): Promise<Round> {
  const milliseconds: number[] = []
  const { spent } = await spentOn(async () => {
    for (const name of names) {
      const began = performance.now()
      await retrieval.similar(name, LIMIT)
      milliseconds.push(performance.now() - began)
    }
  })
  return { spent: { cpu: spent.cpu / names.length, wall: spent.wall / names.length }, milliseconds }
}

function speedLines(asked: readonly Round[]): Line[] {
  const all = asked.flatMap(({ milliseconds }) => milliseconds)
  const aim = count <= 50_000 ? 400 : 200
  const rate = 1 / medianOf(asked, ({ spent }) => spent.cpu)
  return [
    count <= 500_000 ? atLeast('queries', rate, '1/s a core', aim) : figure('queries', rate, '1/s a core'),
    figure('a query, median', median(all), 'ms'),
    figure('a query, 99 of 100', quantile(all, 0.99), 'ms'),
  ]
}

async function parkedLines(retrieval: Retrieval): Promise<Line[]> {
  const names = [...parked(SEED, 50)].map(({ name }) => name as Name)
  const { milliseconds } = await askAll(retrieval, names)
  const rows = (await retrieval.similar(names[7]!, LIMIT))!
  if (rows.length !== LIMIT || rows.some(({ similarity }) => similarity !== 1))
    throw new Error('a parked page is not answered with its twins')
  return [atMost('a page with 100,000 twins, the slowest of 50', Math.max(...milliseconds), 'ms', 50)]
}

/** The most that any query read, held against its bounds. */
async function workLines(store: Store, queries: readonly Name[]): Promise<Line[]> {
  const { similar, reads } = countReads(store.similar)
  const retrieval = openRetrieval({ similar })
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
      QUERY.rows + QUERY.words * segments,
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
      QUERY.cosines,
    ),
    figure(
      'vectors of a query, median',
      medianOf(all, (each) => each.vectors),
      '',
    ),
  ]
}

function sizeLines(path: string): Line[] {
  const sizes = sizesOf(path)
  const vectors = (sizes.wording! + sizes.wording_digest!) / count
  const all = Object.values(sizes).reduce((sum, bytes) => sum + bytes, 0)
  const twins = (sizes.reading! + sizes.reading_wording!) * (PARKED / (PARKED + count))
  return [
    figure('vectors', vectors, 'bytes a page'),
    figure('postings', sizes.posting! / count, 'bytes a page'),
    figure('frequencies', sizes.frequency! / count, 'bytes a page'),
    figure('names', (sizes.reading! + sizes.reading_wording!) / (count + PARKED), 'bytes a page'),
    atMost('index and vectors', (all - twins) / count, 'bytes a page', 1024),
  ]
}

async function recallLines(retrieval: Retrieval, queries: readonly Name[]): Promise<Line[]> {
  const judged = queries.slice(0, JUDGED)
  const found = new Map<string, string[]>()
  for (const name of judged)
    found.set(
      name,
      (await retrieval.similar(name, LIMIT))!.map(({ target }) => target),
    )
  const truth = exactTruth(everything(), judged, LIMIT)
  return [
    atLeast('recall at 10 against exact cosine', recallAt(10, found, truth), '', 0.95),
    atLeast('recall at 100', recallAt(100, found, truth), '', 0.9),
  ]
}

function* everything(): Generator<Page> {
  yield* made()
  yield* parked(SEED, PARKED)
}

async function labelledLines(): Promise<Line[]> {
  const labelled = readLabelled()
  if (labelled === null) return []
  const place = temporary()
  const store = await openStoreIn(join(place, 'labelled.db'))
  try {
    await fill(store, labelled)
    await bringIn(store)
    const retrieval = openRetrieval(store)
    const places = new Map(labelled.map(({ name }, place) => [name, place]))
    const neighbours: number[][] = []
    for (const { name } of labelled)
      neighbours.push((await retrieval.similar(name as Name, LIMIT))!.map(({ target }) => places.get(target)!))
    const first = precisionAt(1, labelled, (at, k) => neighbours[at]!.slice(0, k))
    const ten = precisionAt(10, labelled, (at, k) => neighbours[at]!.slice(0, k))
    return [
      atLeast('labelled texts, of the same category at 1', first.all, '', 0.8),
      atLeast('of the same category at 10', ten.all, '', 0.65),
      figure('the same without exact twins, at 1', first.withoutTwins, ''),
      figure('at 10', ten.withoutTwins, ''),
    ]
  } finally {
    await store.close()
    rmSync(place, { recursive: true })
  }
}

function notes(): string[] {
  return [
    `${count.toLocaleString('en')} pages and ${PARKED.toLocaleString('en')} parked ones of one text; ${ASKED} queries of 100 rows a round, ${rounds} rounds`,
    `recall by ${JUDGED} queries against exact TF-IDF cosine over all words`,
  ]
}
