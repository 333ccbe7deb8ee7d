/** What the simulation notes of visits, and what it complains about. */

const NEVER = -1

export class Logbook {
  readonly #last: Float64Array
  readonly #visiting = new Map<number, string>()
  visits = 0
  /** Visits that began while another crawler was visiting the same name. */
  together = 0
  /** The longest time between two visits of a name, in seconds, and that until the first. */
  longestGap = 0
  longestFirst = 0

  constructor(names: number) {
    this.#last = new Float64Array(names).fill(NEVER)
  }

  /** `at` in seconds from the beginning. */
  begin(index: number, crawler: string, at: number): void {
    const other = this.#visiting.get(index)
    if (other !== undefined && other !== crawler) this.together++
    this.#visiting.set(index, crawler)
    this.visits++
    this.#note(index, at)
  }

  end(index: number, crawler: string): void {
    if (this.#visiting.get(index) === crawler) this.#visiting.delete(index)
  }

  /** A crawler is dead, and with it its visits. */
  bury(crawler: string): void {
    for (const [index, who] of this.#visiting) if (who === crawler) this.#visiting.delete(index)
  }

  /** The simulation is over: the gap up to now counts as well. Returns the names that were never visited. */
  close(at: number): number {
    let never = 0
    for (let index = 0; index < this.#last.length; index++) {
      if (this.#last[index] === NEVER) never++
      this.#note(index, at)
    }
    return never
  }

  #note(index: number, at: number): void {
    const last = this.#last[index]!
    if (last === NEVER) this.longestFirst = Math.max(this.longestFirst, at)
    else this.longestGap = Math.max(this.longestGap, at - last)
    this.#last[index] = at
  }
}
