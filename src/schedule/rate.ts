/** The rate of visits: as many a second as are allowed, evenly. Pure but for what it remembers. */

export type Rate = {
  /** Milliseconds until the next visit may begin, 0 for now. */
  wait(now: number): number
  /** One begins. */
  take(now: number): void
  /** From now on so many a second; null for as many as may be. */
  set(perSecond: number | null): void
}

/** Milliseconds of visits that may be caught up on after there was nothing to visit. */
const BURST = 1_000

export function makeRate(perSecond: number | null): Rate {
  let interval = intervalOf(perSecond)
  let next = Number.NEGATIVE_INFINITY
  return {
    wait: (now) => Math.max(0, Math.ceil(next - now)),
    take(now) {
      next = Math.max(next, now - Math.max(BURST - interval, 0)) + interval
    },
    set(changed) {
      interval = intervalOf(changed)
    },
  }
}

function intervalOf(perSecond: number | null): number {
  return perSecond === null ? 0 : 1000 / perSecond
}
