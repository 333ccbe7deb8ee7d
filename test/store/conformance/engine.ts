/** The engine: what an implementation of the port provides to the conformance suite. */

import type { CheckFault, Store } from '../../../src/store/port/store.ts'
import type { Instant } from '../../../src/values/time.ts'

/** A way to damage a store directly, which `check` must find. */
export type Damage = { what: string; plant: (opened: Opened) => Promise<void> }

/** The clock of a store and all its instances, set by the test. */
export type Clock = { now: Instant }

/** A new store for one test. */
export type Opened = {
  /** The store's URL, as openStore takes it. */
  url: string
  store: Store
  /** Opens another instance of the same store, as another process does. `close` of this object closes it. */
  another(): Promise<Store>
  /** Returns everything that `check` reports, through connections that no instance of the test uses. */
  check(): Promise<readonly CheckFault[]>
  /** Closes every instance and opens the store again. */
  reopen(): Promise<Store>
  /** Closes every instance and removes the store. */
  close(): Promise<void>
}

export type Engine = {
  name: string
  /** Creates an empty store. */
  open(clock: Clock): Promise<Opened>
  /** Ways to damage the store of the maintenance tests. */
  damages: readonly Damage[]
  /** The number of domains that share one address and one target, if it differs from that of the other engines. */
  crowd?: number
  /** The number of random histories for each property, if it differs from that of the other engines. */
  runs?: number
}
