/** How many names were met at sets of name servers: nobody else counts them. Bounded, and the older half counts no more. */

import { ROUND_SECONDS } from '../crawl/pace.ts'

/** Sets that are remembered, those met last. */
const KEPT = 50_000

export class Met {
  readonly #counts = new Map<string, number>()
  #halved = 0

  /** One more name was met there; how many were. `servers` as of the pace, `now` in milliseconds of a clock that is never set. */
  add(servers: string, now: number): number {
    if (now - this.#halved >= ROUND_SECONDS * 1000) this.#halve(now)
    const count = (this.#counts.get(servers) ?? 0) + 1
    this.#counts.delete(servers)
    this.#counts.set(servers, count)
    const [oldest] = this.#counts.keys()
    if (this.#counts.size > KEPT) this.#counts.delete(oldest!)
    return count
  }

  #halve(now: number): void {
    this.#halved = now
    for (const [servers, count] of this.#counts) this.#counts.set(servers, Math.ceil(count / 2))
  }
}
