/**
 * Random histories: for all events, batch sizes and numbers of writers, the store answers as the model does.
 * `DOMAINDEX_TEST_RUNS=5000` sets the number of runs. fast-check prints the seed and the smallest failing history.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type IngestOutcome, ingest } from '../../../src/store/ingest.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { inForm } from '../../long.ts'
import { Model } from '../model.ts'
import { agree } from './answers.ts'
import { ADDRESSES, certifiedHistory, type Event, history, NAMES, TARGETS } from './arbitraries.ts'
import type { Engine, Opened } from './engine.ts'
import { stayed, WALKS } from './unchanged-rows.ts'
import { faults, NOW } from './world.ts'

const { DOMAINDEX_TEST_RUNS } = process.env
const RUNS = inForm(6, 15)
export const EVERYTHING = { names: [...NAMES, ...TARGETS], addresses: ADDRESSES }

export const batchSizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 })
export const pages = fc.record({ limit: fc.integer({ min: 1, max: 4 }) })

/** The outcome of an event: that of an observation, or whether there was something to forget. */
type Fate = IngestOutcome | boolean

/** Applies events to the store, with observations in batches of these sizes in turn. */
export async function happen(
  store: Pick<Store, 'observations' | 'now'>,
  events: readonly Event[],
  sizes: number[],
): Promise<Fate[]> {
  const fates: Fate[] = []
  for (let turn = 0; fates.length < events.length; turn++) {
    const rest = events.slice(fates.length, fates.length + sizes[turn % sizes.length]!)
    const end = rest.findIndex((event) => 'forget' in event)
    if (end === 0) fates.push(await store.observations.forget((rest[0] as { forget: (typeof NAMES)[0] }).forget))
    else
      fates.push(
        ...(await ingest(
          store,
          (end < 0 ? rest : rest.slice(0, end)).filter((event) => 'domain' in event),
        )),
      )
  }
  return fates
}

export function happenInModel(model: Model, events: readonly Event[]): Fate[] {
  return events.map((event) => ('forget' in event ? model.forget(event.forget) : model.observe(event)))
}

/** The store with every call delayed, so that the scheduler can try all orders. */
export function paced(store: Store, scheduler: fc.Scheduler, who: string): Store {
  const pace = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, key) {
        const method = Reflect.get(target, key)
        if (typeof method !== 'function') return method
        return async (...values: unknown[]) => {
          await scheduler.schedule(Promise.resolve(), `${who} ${String(key)}`)
          return method.apply(target, values)
        }
      },
    })
  return {
    ...store,
    observations: pace(store.observations),
    facts: pace(store.facts),
    maintenance: pace(store.maintenance),
    inverse: pace(store.inverse),
    inverseIndex: pace(store.inverseIndex),
    now: () => store.now(),
  }
}

/** A property of every store, on any engine. */
export type Property = { sentence: string; on: (engine: Pick<Engine, 'open'>) => fc.IAsyncPropertyWithHooks<unknown[]> }

/** A property over new stores, each of which must be free of errors at the end. */
export function property<Values extends [unknown, ...unknown[]]>(
  sentence: string,
  arbitraries: { [I in keyof Values]: fc.Arbitrary<Values[I]> },
  holds: (opened: Opened, ...values: Values) => Promise<void>,
): Property {
  const on: Property['on'] = (engine) =>
    fc.asyncProperty(...(arbitraries as [fc.Arbitrary<unknown>]), async (...values: unknown[]) => {
      const opened = await engine.open({ now: NOW })
      try {
        await holds(opened, ...(values as Values))
        assert.deepEqual(await opened.check(), [])
      } finally {
        await opened.close()
      }
    })
  return { sentence, on }
}

export const PROPERTIES: readonly Property[] = [
  property(
    'a random history in batches of any size gives the outcomes and responses of the plain model, with any page size',
    [certifiedHistory(NAMES, 50), batchSizes, pages],
    async ({ store }, events, sizes, page) => {
      const model = new Model(NOW)
      assert.deepEqual(await happen(store, events, sizes), happenInModel(model, events))
      await agree(store, model, { ...EVERYTHING, ...page })
    },
  ),
  property(
    'a repeated history changes nothing the second time, and is complete after the store is opened again',
    [history(NAMES, 30), batchSizes, pages],
    async (opened, events, sizes, page) => {
      const model = new Model(NOW)
      const fates = happenInModel(model, events)
      await happen(opened.store, events, sizes)
      const again = await happen(opened.store, events, sizes.toReversed())
      assert.deepEqual(again, fates.map(secondTime))
      await agree(await opened.reopen(), model, { ...EVERYTHING, ...page })
    },
  ),
  property(
    'two concurrent writers with the same history give the responses of one, and each event applies once',
    [history(NAMES, 30), batchSizes, batchSizes, fc.scheduler(), pages],
    async (opened, events, sizes, otherSizes, scheduler, page) => {
      const model = new Model(NOW)
      const expected = happenInModel(model, events)
      const one = happen(paced(opened.store, scheduler, 'one'), events, sizes)
      const other = happen(paced(await opened.another(), scheduler, 'other'), events, otherSizes)
      const [fates, others] = await scheduler.waitFor(Promise.all([one, other]))
      for (const [index, fate] of expected.entries()) {
        const both = [fates[index], others[index]].sort()
        assert.deepEqual(both, [fate, secondTime(fate)].sort(), `event ${index}`)
      }
      await agree(opened.store, model, { ...EVERYTHING, ...page })
    },
  ),
  property(
    'two concurrent writers of different names with the same addresses and targets give the responses of the plain model; ' +
      'meanwhile no listing skips or repeats an unchanged row, and check finds no error',
    [
      history(NAMES, 20),
      history(NAMES.slice(0, 2), 20),
      history(NAMES.slice(2), 20),
      batchSizes,
      fc.scheduler(),
      pages,
    ],
    async (opened, world, left, right, sizes, scheduler, page) => {
      const model = new Model(NOW)
      happenInModel(model, world)
      await happen(opened.store, world, [50])
      const staying = stayed(model, [...left, ...right], (event) => happenInModel(model, [event]))
      const reader = paced(opened.store, scheduler, 'reader')
      const writers = [
        happen(paced(await opened.another(), scheduler, 'left'), left, sizes),
        happen(paced(await opened.another(), scheduler, 'right'), right, sizes.toReversed()),
      ]
      const walks = WALKS.map(({ walk }) => walk(reader.facts, page.limit))
      const [found, wrong] = await scheduler.waitFor(Promise.all([Promise.all(walks), faults(reader), ...writers]))
      for (const [index, { of }] of WALKS.entries()) {
        const rows = found[index]!
        assert.deepEqual(rows, [...new Set(rows)], `${of}: a row is repeated`)
        const missing = staying[index]!.filter((row) => !rows.includes(row))
        assert.deepEqual(missing, [], `${of}: a row is skipped`)
      }
      assert.deepEqual(wrong, [])
      await agree(opened.store, model, { ...EVERYTHING, ...page })
    },
  ),
]

export function histories(engine: Engine): void {
  testProperties(engine, PROPERTIES)
}

export function testProperties(engine: Engine, properties: readonly Property[]): void {
  const numRuns = Number(DOMAINDEX_TEST_RUNS ?? engine.runs ?? RUNS)
  for (const { sentence, on } of properties) test(sentence, () => fc.assert(on(engine), { numRuns }))
}

/** The outcome of an event that has happened before. */
function secondTime(fate: Fate): Fate {
  if (typeof fate === 'boolean') return false
  return fate === 'ahead' ? 'ahead' : 'stale'
}
