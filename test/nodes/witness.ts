/** Watches every call that reaches the store: who holds what, and whether a write with an old fence succeeds. */

import type { LockHold, LockName } from '../../src/store/port/jobs.ts'
import type { Lease } from '../../src/store/port/schedule.ts'
import type { Store } from '../../src/store/port/store.ts'
import { rangeOf } from './crawled-names.ts'

export class Witness {
  /** What should not have happened, one sentence each. */
  readonly violations: string[] = []
  /** How often the store refused something because of an old fence. */
  readonly refused = { saves: 0, renewals: 0, lockRenewals: 0 }
  readonly #rangeFences = new Map<number, number>()
  readonly #locks = new Map<LockName, LockHold & { holder: string }>()

  /** Whether a process was the last one to acquire a lock. */
  isOwner(name: LockName, holder: string): boolean {
    return this.#locks.get(name)?.holder === holder
  }

  /** The store of one process. */
  watch(store: Store): Store {
    return { ...store, ...this.#watchCrawl(store), jobs: this.#watchJobs(store) }
  }

  #isNewest({ name, fence }: LockHold): boolean {
    return this.#locks.get(name)?.fence === fence
  }

  #watchCrawl({ schedule, observations }: Store): Pick<Store, 'schedule' | 'observations'> {
    const isOld = ({ range, fence }: Lease): boolean => this.#rangeFences.get(range) !== fence
    return {
      schedule: {
        ...schedule,
        lease: async (...args) => {
          const leases = await schedule.lease(...args)
          for (const { range, fence } of leases) this.#rangeFences.set(range, fence)
          return leases
        },
        renew: async (leases) => {
          const renewed = await schedule.renew(leases)
          if (renewed.some(isOld)) this.violations.push('a lease with an old fence was renewed')
          this.refused.renewals += leases.length - renewed.length
          return renewed
        },
      },
      observations: {
        ...observations,
        save: async (changes, leases) => {
          const result = await observations.save(changes, leases)
          this.refused.saves += result.lost.length
          const dropped = new Set([...result.rejected, ...result.lost])
          const fences = new Map(leases?.map((lease) => [lease.range, lease]))
          for (const { name } of [...changes].map(({ state }) => state)) {
            if (dropped.has(name)) continue
            const lease = fences.get(rangeOf(name))
            if (lease === undefined || isOld(lease)) this.violations.push(`${name} was written with an old fence`)
          }
          return result
        },
      },
    }
  }

  #watchJobs({ jobs }: Store): Store['jobs'] {
    return {
      ...jobs,
      acquireLock: async (name, holder) => {
        const hold = await jobs.acquireLock(name, holder)
        if (hold !== null) this.#locks.set(name, { ...hold, holder })
        return hold
      },
      renewLock: async (hold) => {
        const isHeld = await jobs.renewLock(hold)
        if (isHeld && !this.#isNewest(hold)) this.violations.push(`${hold.name} was renewed with an old fence`)
        if (!isHeld) this.refused.lockRenewals++
        return isHeld
      },
      startRun: async (hold, ...args) => {
        const run = await jobs.startRun(hold, ...args)
        if (run !== null && !this.#isNewest(hold)) this.violations.push(`${hold.name}: a run began with an old fence`)
        return run
      },
    }
  }
}
