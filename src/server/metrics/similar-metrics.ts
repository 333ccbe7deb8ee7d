/** The metrics of /similar: the lag and the size of its index. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Gauge, type Registry } from 'prom-client'
import type { Store } from '../../store/port/store.ts'
import { cachedRead } from './cached-read.ts'

/** Milliseconds for which the figures are cached, so that all metrics of one request are of the same moment. */
const SIMILAR_METRICS_CACHE_MS = 500
/** Milliseconds that a request for metrics waits for the store. */
const SIMILAR_METRICS_TIMEOUT_MS = 700

type SimilarMetrics = { lag: number | null; documents: number | null; segments: number | null }

const NO_SIMILAR_METRICS: SimilarMetrics = { lag: null, documents: null, segments: null }

export function addSimilarMetrics(registry: Registry, store: Pick<Store, 'similar' | 'now'>): void {
  const withTimeout = (): Promise<SimilarMetrics> =>
    Promise.race([readSimilarMetrics(store), sleep(SIMILAR_METRICS_TIMEOUT_MS, NO_SIMILAR_METRICS, { ref: false })])
  const figures = cachedRead(withTimeout, SIMILAR_METRICS_CACHE_MS, NO_SIMILAR_METRICS)
  const add = (name: string, help: string, key: keyof SimilarMetrics): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const value = (await figures())[key]
        if (value === null) this.remove()
        else this.set(value)
      },
    })
  }
  add(
    'domaindex_similar_lag_seconds',
    'How far the /similar index is behind the observations; absent until the index is complete for the first time.',
    'lag',
  )
  add(
    'domaindex_similar_documents',
    'Distinct start-page texts in the /similar index, by their term vectors.',
    'documents',
  )
  add('domaindex_similar_segments', 'Segments of the /similar index.', 'segments')
}

async function readSimilarMetrics({ similar, now }: Pick<Store, 'similar' | 'now'>): Promise<SimilarMetrics> {
  const [indexedUntil, segments] = [await similar.indexedUntil(), await similar.segments()]
  return {
    lag: indexedUntil === null ? null : Math.max(0, (await now()) - indexedUntil),
    documents: segments.reduce((sum, { documents }) => sum + documents, 0),
    segments: segments.length,
  }
}
