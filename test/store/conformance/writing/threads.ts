/** Tests of threads: a writer in another thread, concurrent with readers and writers in this one. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import type { Observation } from '../../../../src/observe/observation.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { inForm } from '../../../long.ts'
import { Model } from '../../model.ts'
import { agree } from '../answers.ts'
import { ADDRESSES, NAMES, observations, TARGETS } from '../arbitraries.ts'
import type { Engine } from '../engine.ts'
import { parsePage } from '../reading/paging.ts'
import { address, dns, NOW, name, redirecting, seen, testWithStore } from '../world.ts'
import type { Task } from './other-process.ts'

/** Starts a writer in its own thread. Resolves when it starts. `done` resolves when it has ended without an error. */
async function elsewhere(task: Task): Promise<{ running: () => boolean; done: Promise<unknown> }> {
  const worker = new Worker(new URL('./other-process.ts', import.meta.url), { workerData: task })
  let running = true
  const done = once(worker, 'exit').finally(() => {
    running = false
  })
  await Promise.race([once(worker, 'message'), done])
  return { running: () => running, done }
}

/** Lets the events of other threads in. */
function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

const HUB = 'hub.example'
/** The batches of the other thread. On PostgreSQL each is slower than the one before, because nothing vacuums. */
const MOVES = inForm(80, 300)

/** One batch of a world in which names only move: the hub always has two neighbours and one source. */
function moved(at: number): Observation[] {
  const here = dns({ A: [`192.0.2.${1 + (at % 2)}`] })
  const [to, away] = [redirecting(HUB), redirecting('other.example')]
  return [
    seen(HUB, at, here),
    seen('one.example', at, here, at % 2 ? to : away),
    seen('two.example', at, here, at % 2 ? away : to),
  ]
}

/** What a client sees of the hub at one moment: the counts of its lookup, and the rows of each list. */
async function look({ facts }: Store): Promise<number[]> {
  const { redirect_count, reverse_ip_count } = (await facts.lookup(name(HUB)))!
  const sources = parsePage(await facts.redirects(name(HUB), null, 5))
  const present = parsePage(await facts.neighbours([address('192.0.2.1')], null, null, 5))
  return [redirect_count, reverse_ip_count, sources.rows.length, present.rows.length]
}

export function threads(engine: Engine): void {
  testWithStore(
    engine,
    'a lookup, and the rows of one list, are of one moment while another thread writes',
    async (store, { url }) => {
      await ingest(store, moved(1))
      const batches = Array.from({ length: MOVES }, (_, n) => moved(n + 2))
      const { running, done } = await elsewhere({ url, now: NOW, batches })
      const looks: number[][] = []
      for (; running(); await breathe()) looks.push(await look(store))
      await done
      for (const [redirects, neighbours, sources, present] of looks) {
        assert.deepEqual([redirects, neighbours, sources, present! % 3], [1, 2, 1, 0])
      }
      assert.equal((await store.facts.clocks(name(HUB))).dns, moved(MOVES + 1)[0]!.observed_at)
    },
  )

  testWithStore(
    engine,
    'a history that two threads apply at once gives the responses of the plain model',
    async (store, { url }) => {
      const history = fc.sample(observations(NAMES, 40), { seed: 1, numRuns: 20 }).flat()
      const batches = Array.from({ length: 100 }, (_, n) => history.slice(4 * n, 4 * n + 4))
      const { done } = await elsewhere({ url, now: NOW, batches })
      for (const batch of batches) {
        await ingest(store, batch)
        await breathe()
      }
      await done
      const model = new Model(NOW)
      for (const observation of history) model.observe(observation)
      const question = { names: [...NAMES, ...TARGETS], addresses: ADDRESSES, limit: 3 }
      await agree(store, model, question)
    },
  )
}
