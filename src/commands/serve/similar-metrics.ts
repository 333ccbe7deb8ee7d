/** The metrics of /similar: how far its index is behind, and how large it is. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Gauge, type Registry } from 'prom-client'
import type { Store } from '../../store/store.ts'
import { remembered } from './remembered.ts'

/** Milliseconds for which figures are good: those that one look at the metrics shows are of one moment. */
const GOOD_FOR = 500
/** Milliseconds that whoever asks for metrics waits for the store. */
const PATIENCE = 700

type Figures = { lag: number | null; wordings: number | null; segments: number | null }

const NONE: Figures = { lag: null, wordings: null, segments: null }

export function addSimilarMetrics(registry: Registry, store: Pick<Store, 'similar' | 'now'>): void {
  const inTime = (): Promise<Figures> => Promise.race([figuresOf(store), sleep(PATIENCE, NONE, { ref: false })])
  const figures = remembered(inTime, GOOD_FOR, NONE)
  const add = (name: string, help: string, key: keyof Figures): void => {
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
    'Time for which the index of /similar lacks what was observed; absent until it had all for the first time.',
    'lag',
  )
  add(
    'domaindex_similar_wordings',
    'Different start-page texts in the index of /similar, as their words count.',
    'wordings',
  )
  add('domaindex_similar_segments', 'Parts that the index of /similar consists of.', 'segments')
}

async function figuresOf({ similar, now }: Pick<Store, 'similar' | 'now'>): Promise<Figures> {
  const [followed, segments] = [await similar.followed(), await similar.segments()]
  return {
    lag: followed === null ? null : Math.max(0, (await now()) - followed),
    wordings: segments.reduce((sum, { wordings }) => sum + wordings, 0),
    segments: segments.length,
  }
}
