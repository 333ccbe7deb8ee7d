/** The turns of one visit: it waits for one at each address that it connects to, for so long as the limits allow. */

import type { Address } from '../words/address.ts'
import { reachedAt } from './guard.ts'
import type { Pace } from './pace.ts'
import type { Vetted } from './visit.ts'
import type { WebLimits } from './web-limits.ts'

type TurnsOptions = {
  /** Null where nobody has to wait. */
  pace: Pick<Pace, 'wait' | 'take' | 'restOf'> | null
  limits: Pick<WebLimits, 'firstTurn' | 'turns'>
  /** Addresses where the visit has its turn already. */
  given: readonly Address[]
}

export class Turns {
  readonly #options: TurnsOptions
  readonly #had: Set<Address>
  /** The address that is waited for, or was last, and for how long all were together. */
  #at: Address | null = null
  #waited = 0
  #cutShort: (() => void) | null = null
  #isCut = false
  /** The first address at which a host could not be reached for want of a turn: what the visit saw does not count. */
  held: Address | null = null

  constructor(options: TurnsOptions) {
    this.#options = options
    this.#had = new Set(options.given.map(reachedAt))
  }

  /** The doors in the order of trying: as they come, those first whose turn does. */
  sort(doors: readonly Vetted[]): readonly Vetted[] {
    const { pace } = this.#options
    if (pace === null || doors.length < 2) return doors
    const wait = (door: Vetted): number => (this.#isFree(door) ? 0 : pace.wait({ addresses: [door.address] }))
    const waits = doors.map((door) => ({ door, wait: wait(door) }))
    return waits.toSorted((a, b) => a.wait - b.wait).map(({ door }) => door)
  }

  /** True when the turn has come, at once where the visit had one at this address; false where it is too far off. */
  async at(door: Vetted): Promise<boolean> {
    const { pace, limits } = this.#options
    if (pace === null || this.#isFree(door)) return true
    const places = { addresses: [door.address] }
    const patience = this.#had.size === 0 ? limits.firstTurn : limits.turns - this.#waited
    if (this.#isCut || pace.wait(places) > patience) return false
    const wait = pace.take(places)
    this.#had.add(reachedAt(door.address))
    if (wait > 0) await this.#sleep(wait, door.address)
    if (this.#isCut || wait === 0 || pace.restOf(places) <= 0) return !this.#isCut
    this.#had.delete(reachedAt(door.address)) // it came to rest since the turn was taken
    return this.at(door)
  }

  /** The visit has no time left: nobody waits any longer, and where somebody has, what was seen does not count. */
  cut(): void {
    this.#isCut = true
    this.held ??= this.#at
    this.#cutShort?.()
  }

  #isFree({ address, own }: Vetted): boolean {
    return own === true || this.#had.has(reachedAt(address))
  }

  #sleep(milliseconds: number, at: Address): Promise<void> {
    this.#at = at
    this.#waited += milliseconds
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#cutShort = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
