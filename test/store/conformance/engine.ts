/** The engine: what an implementation of the port hands to the suite to be judged by it. */

import type { Store } from '../../../src/store/port/store.ts'
import type { Instant } from '../../../src/values/time.ts'

/** One way to spoil a store behind its back, which `check` has to find. */
export type Damage = { what: string; plant: (opened: Opened) => Promise<void> }

/** The clock of a store and all its instances, set by the test. */
export type Clock = { now: Instant }

/** A store of its own for one test. */
export type Opened = {
  /** The store's address, as openStore takes it. */
  url: string
  store: Store
  /** One more instance on the same store, as another process has it. `close` of this object closes it. */
  another(): Promise<Store>
  /** Closes every instance and opens the store again. */
  reopen(): Promise<Store>
  /** Closes every instance and removes the store. */
  close(): Promise<void>
}

export type Engine = {
  name: string
  /** Makes an empty store. */
  open(clock: Clock): Promise<Opened>
  /** Ways to spoil the store that the upkeep tests have filled. */
  damages: readonly Damage[]
}
