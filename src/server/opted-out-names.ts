/** Keeps the names of the opt-out list out of a store, whatever they come from. */

import type { Settings } from '../config/settings.ts'
import type { OptOutList } from '../probe/policy/opt-out.ts'
import type { Store } from '../store/port/store.ts'
import { openConfiguredOptOut } from './crawl/crawl-access.ts'

/**
 * The store, in which names of the opt-out list that the settings name look forgotten to whoever writes observations or
 * files. `close` closes the list too. `warn` receives why a changed list cannot be used. Throws CommandFault if the list
 * cannot be used now.
 */
export function withoutOptedOutNames(store: Store, settings: Settings, warn: (message: string) => void): Store {
  if (settings.crawlOptOut === null) return store
  const optOut = openConfiguredOptOut(settings, warn)
  return {
    ...excludingNames(store, optOut),
    close() {
      optOut.close()
      return store.close()
    },
  }
}

/** The store, in which names of the list look forgotten. */
function excludingNames(store: Store, optOut: Pick<OptOutList, 'hasName'>): Store {
  const { observations } = store
  return {
    ...store,
    observations: {
      ...observations,
      crawlStates: async (names) =>
        (await observations.crawlStates(names)).map((state) =>
          optOut.hasName(state.name) ? { ...state, forgotten: true } : state,
        ),
    },
  }
}
