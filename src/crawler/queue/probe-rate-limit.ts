/** The rate of visits: as many a second as are allowed, evenly. Pure but for what it remembers. */

export type ProbeRateLimit = {
  /** Milliseconds until the next visit may begin, 0 for now. */
  wait(now: number): number
  /** One begins. */
  acquire(now: number): void
  /** From now on so many a second; null for as many as may be. */
  setRate(perSecond: number | null): void
}

/** Milliseconds of visits that may be caught up on after there was nothing to visit. */
const BURST_MS = 1_000

export function createProbeRateLimit(perSecond: number | null): ProbeRateLimit {
  let interval = probeIntervalMs(perSecond)
  let next = Number.NEGATIVE_INFINITY
  return {
    wait: (now) => Math.max(0, Math.ceil(next - now)),
    acquire(now) {
      next = Math.max(next, now - Math.max(BURST_MS - interval, 0)) + interval
    },
    setRate(changed) {
      interval = probeIntervalMs(changed)
    },
  }
}

function probeIntervalMs(perSecond: number | null): number {
  return perSecond === null ? 0 : 1000 / perSecond
}
