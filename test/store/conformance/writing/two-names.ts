/** Two names on few addresses that redirect to one target, for the sentences about writers. */

import type { Observation } from '../../../../src/observe/observation.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { address, dns, name, redirecting, seen } from '../world.ts'

export const ONE = name('one.example')
export const TWO = name('two.example')
export const QUESTION = {
  names: [ONE, TWO, name('target.example')],
  addresses: ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(address),
  limit: 1,
}

export function on(domain: string, at: number, ...addresses: string[]): Observation {
  return seen(domain, at, dns({ A: addresses, NS: ['ns.example'] }), redirecting('target.example'))
}

type Save = Store['observations']['save']

/** The part of a store that an ingest uses, with another way to save. */
export function saving(store: Store, save: Save): Pick<Store, 'observations' | 'now'> {
  return { now: () => store.now(), observations: { ...store.observations, save } }
}
