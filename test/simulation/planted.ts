/** Faults that the simulation must find: each changes a part of the product, or hides an error from it. */

import type { PruneDependencies } from '../../src/jobs/prune.ts'
import type { Store } from '../../src/store/port/store.ts'
import { addDays } from '../../src/values/time.ts'
import type { DiskRules } from './file-calls.ts'

/** `rules`: of the disk. `store`: the store of each process. `prune`: what the job prune works on. */
export type PlantedFault = {
  name: string
  rules?: Partial<DiskRules>
  store?: (store: Store) => Store
  prune?: (dependencies: PruneDependencies) => PruneDependencies
}

export const NO_FAULT: PlantedFault = { name: 'none' }

const isPath = (pattern: RegExp) => (path: string) => pattern.test(path)

/** Changes some functions of a part of the store. */
function changed<Part extends keyof Store>(part: Part, change: (former: Store[Part]) => Partial<Store[Part]>) {
  return (store: Store): Store => ({ ...store, [part]: { ...store[part], ...change(store[part]) } })
}

export const FAULTS: readonly PlantedFault[] = [
  { name: 'finished files are not synced', rules: { skipsSync: isPath(/^\/files\/.*\.[0-9a-f]{12}/) } },
  { name: 'the folders of registrations are not synced', rules: { skipsSync: isPath(/^\/zones\/days\/[^/]*$/) } },
  { name: 'the folder of the archive is not synced', rules: { skipsSync: isPath(/^\/inbox(\/\w+)?$/) } },
  { name: 'a short write counts as complete', rules: { hidesFailure: isPath(/^\/(zones|files)\//) } },
  {
    name: 'observations are acknowledged before they are written',
    store: (store) => {
      let late: (() => Promise<unknown>) | null = null
      const { save } = store.observations
      return {
        ...store,
        observations: {
          ...store.observations,
          async save(changes, leases) {
            await late?.()
            const kept = [...changes]
            late = () => save(kept, leases)
            return { rejected: [], lost: [] }
          },
        },
      }
    },
  },
  {
    name: 'one batch of observations is two transactions',
    store: changed('observations', ({ save }) => ({
      async save(given, leases) {
        const changes = [...given]
        if (changes.length < 2) return save(changes, leases)
        const first = await save(changes.slice(0, 1), leases)
        const rest = await save(changes.slice(1), leases)
        return { rejected: [...first.rejected, ...rest.rejected], lost: [...first.lost, ...rest.lost] }
      },
    })),
  },
  {
    name: 'a page of redirects begins with the last row of the page before',
    store: changed('facts', ({ redirects, ...facts }) => ({
      redirects: (target, after, limit) =>
        redirects.call(facts, target, after && (after.slice(0, -1) as typeof after), limit),
    })),
  },
  {
    name: 'settled units are not counted',
    store: changed('ledger', ({ settleQuota }) => ({
      settleQuota: (settlements) => settleQuota(settlements.map((each) => ({ ...each, spent: 0 }))),
    })),
  },
  {
    name: 'a file is paid for with each download',
    store: changed('ledger', ({ payForFile }) => ({
      payForFile: (purchase) => payForFile({ ...purchase, file: `${purchase.file} ${crypto.randomUUID()}` }),
    })),
  },
  {
    name: 'the limit of a budget is one call too high',
    store: changed('ledger', ({ takeQuota }) => ({
      takeQuota: async (request) => ({ ...(await takeQuota({ ...request, limit: request.limit + 1 })) }),
    })),
  },
  {
    name: 'a revoked token stays valid',
    store: changed('ledger', ({ findToken }) => ({
      async findToken(hash) {
        const found = await findToken(hash)
        return found && { ...found, token: { ...found.token, revoked: null } }
      },
    })),
  },
  {
    name: 'every tenth event is passed over',
    store: changed('events', ({ events }) => ({
      events: async (...values) => (await events(...values)).filter(({ number }) => number % 10 !== 0),
    })),
  },
  {
    name: 'prune removes one day too many',
    prune: (dependencies) => ({
      ...dependencies,
      removeDays: (before, isDry) => dependencies.removeDays(addDays(before, 2), isDry),
    }),
  },
  {
    name: 'lookups are cached and never read again',
    store: changed('facts', ({ lookup }) => {
      const cache = new Map<string, ReturnType<typeof lookup>>()
      return { lookup: (name) => cache.get(name) ?? cache.set(name, lookup(name)).get(name)! }
    }),
  },
  {
    name: 'a forgotten name can come back',
    store: changed('observations', ({ crawlStates }) => ({
      crawlStates: async (names) => (await crawlStates(names)).map((state) => ({ ...state, forgotten: false })),
    })),
  },
]
