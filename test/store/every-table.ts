/** A store with rows in every table of the facts and of the /similar index, for the tests of damage. */

import { SYSTEM_CLOCK } from '../../src/server/system-clock.ts'
import { indexOnce } from '../../src/similar/index/run-indexer.ts'
import { ingest } from '../../src/store/ingest.ts'
import type { Store } from '../../src/store/port/store.ts'
import { dns, redirecting, seen, web } from './conformance/world.ts'

/** Observes the names twice, so that each has a superseded state, and indexes their pages. */
export async function fillEveryTable(store: Store, names = 1200): Promise<void> {
  for (const round of [1, 2])
    await ingest(
      store,
      Array.from({ length: names }, (_, n) =>
        seen(
          `n${n}.example`,
          round,
          dns({ A: [`192.0.2.${n % 200}`], TXT: [[`round ${round}`]], MX: [] }),
          n % 5 === 0 ? redirecting(`t${n % 7}.example`) : web({ has_website: true, text: `text ${n} of ${n % 90}` }),
        ),
      ),
    )
  const reporter = { progress: () => {} }
  await indexOnce({ store, holder: 'a test', clock: SYSTEM_CLOCK, reporter }, new AbortController().signal)
}
