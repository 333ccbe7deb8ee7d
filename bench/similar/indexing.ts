/** Measures the speed of indexing and the size of the index. */

import { type Metric, metric, metricWithMax, metricWithMin } from '../measure/report.ts'
import { PARKED_PAGES, sampleParkedPages, syntheticPages } from './sample.ts'
import { indexAll, type SimilarStore, storePages, type TimeSpent } from './store.ts'

/** What each table contains. */
const TABLE_CONTENTS: Record<string, string> = {
  document: 'vectors',
  posting: 'postings',
  document_frequency: 'frequencies',
  page_document: 'names',
}

/** Indexes all pages. */
export async function indexMetrics(similarStore: SimilarStore, count: number): Promise<Metric[]> {
  await storePages(similarStore.store, syntheticPages(count))
  const corpus = await indexAll(similarStore)
  await storePages(similarStore.store, sampleParkedPages())
  const parked = await indexAll(similarStore)
  const segments = await similarStore.store.similar.segments()
  const totalCpu = ({ cpu, serverCpuSeconds }: TimeSpent): number => cpu + serverCpuSeconds
  const withServer = (indexed: number, time: TimeSpent): Metric[] =>
    similarStore.serverCpuSeconds ? [metric('  with server time', indexed / totalCpu(time), '1/s per core')] : []
  return [
    metricWithMin(
      'pages indexed, 97 % with a text of their own',
      corpus.indexed / corpus.time.cpu,
      '1/s per core',
      2000,
    ),
    ...withServer(corpus.indexed, corpus.time),
    metric('  by wall time', corpus.indexed / corpus.time.wall, '1/s'),
    metric('parked pages indexed', parked.indexed / parked.time.cpu, '1/s per core'),
    ...withServer(parked.indexed, parked.time),
    metric('segments at the end', segments.length, ''),
  ]
}

/** The size of each table, and of all tables without the names of the parked pages. */
export async function sizeMetrics(similarStore: SimilarStore, count: number): Promise<Metric[]> {
  const { tables, free } = await similarStore.sizes()
  const all = Object.values(tables).reduce((sum, bytes) => sum + bytes, 0)
  const parkedNameBytes = tables.page_document! * (PARKED_PAGES / (PARKED_PAGES + count))
  const each = Object.entries(tables).map(([table, bytes]) =>
    metric(
      TABLE_CONTENTS[table] ?? `table ${table}`,
      bytes / (table === 'page_document' ? count + PARKED_PAGES : count),
      'bytes per page',
    ),
  )
  return [
    ...each,
    metricWithMax('index and vectors', (all - parkedNameBytes) / count, 'bytes per page', 1024),
    ...(free === null ? [] : freeSpaceMetrics(free / count, (all - parkedNameBytes) / count)),
  ]
}

/** Merges leave free space that later merges fill. With few pages its share is large. */
function freeSpaceMetrics(free: number, all: number): Metric[] {
  return [
    metric('  of them free for new rows', free, 'bytes per page'),
    metric('  without free space', all - free, 'bytes per page'),
  ]
}
