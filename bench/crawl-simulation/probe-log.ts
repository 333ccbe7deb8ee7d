/** Records the probes of the simulation and the violations that it finds. */

const NEVER = -1

export class ProbeLog {
  readonly #last: Float64Array
  readonly #probing = new Map<number, string>()
  probes = 0
  /** Probes that started while another crawler was probing the same name. */
  overlapping = 0
  /** The longest time between two probes of a name, and the longest time until a first probe, in seconds. */
  longestGap = 0
  longestFirst = 0

  constructor(names: number) {
    this.#last = new Float64Array(names).fill(NEVER)
  }

  /** `at`: seconds since the start of the simulation. */
  begin(index: number, crawler: string, at: number): void {
    const other = this.#probing.get(index)
    if (other !== undefined && other !== crawler) this.overlapping++
    this.#probing.set(index, crawler)
    this.probes++
    this.#record(index, at)
  }

  end(index: number, crawler: string): void {
    if (this.#probing.get(index) === crawler) this.#probing.delete(index)
  }

  /** Removes the probes in progress of a crawler that was killed. */
  removeCrawler(crawler: string): void {
    for (const [index, who] of this.#probing) if (who === crawler) this.#probing.delete(index)
  }

  /** Ends the simulation and counts the gaps up to now. Returns the number of names that were never probed. */
  close(at: number): number {
    let neverProbed = 0
    for (let index = 0; index < this.#last.length; index++) {
      if (this.#last[index] === NEVER) neverProbed++
      this.#record(index, at)
    }
    return neverProbed
  }

  #record(index: number, at: number): void {
    const last = this.#last[index]!
    if (last === NEVER) this.longestFirst = Math.max(this.longestFirst, at)
    else this.longestGap = Math.max(this.longestGap, at - last)
    this.#last[index] = at
  }
}
