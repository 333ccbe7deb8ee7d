/** A writer that adds names while others read, and forgets some of them. */

import { setImmediate as turn } from 'node:timers/promises'
import { ingest } from '../../../../src/store/ingest.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { name, seen } from '../world.ts'

export class Writer {
  /** Names being written or already written, names already written, and names being forgotten. */
  readonly started = new Set<string>()
  readonly done = new Set<string>()
  readonly forgotten = new Set<string>()
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  async write(): Promise<void> {
    for (let batch = 0; batch < 40; batch++) {
      const names = Array.from({ length: 25 }, (_, n) => name(`w${n}-${batch}.example`))
      for (const each of names) this.started.add(each)
      await ingest(
        this.#store,
        names.map((each) => seen(each, 1, null)),
      )
      for (const each of names) this.done.add(each)
      this.forgotten.add(names[batch % 25]!)
      await this.#store.observations.forget(names[batch % 25]!)
      await turn()
    }
  }
}
