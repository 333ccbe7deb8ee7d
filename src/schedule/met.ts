/** How many names were met at sets of name servers: nobody else counts them. Bounded, and half of a count is forgotten after a round. */

import { ROUND_SECONDS } from '../crawl/pace.ts'
import { Recent } from '../crawl/recent.ts'

/** Sets that are remembered, those met last. */
const KEPT = 50_000
const ROUND = ROUND_SECONDS * 1000

export class Met {
  readonly #counts = new Recent<string, { count: number; since: number }>(KEPT)

  /** One more name was met there; how many were. `servers` as of the pace, `now` in milliseconds of a clock that is never set. */
  add(servers: string, now: number): number {
    const { count, since } = this.#counts.get(servers) ?? { count: 0, since: now }
    const isOver = now - since >= ROUND
    const met = (isOver ? Math.ceil(count / 2) : count) + 1
    this.#counts.use(servers, { count: met, since: isOver ? now : since })
    return met
  }
}
