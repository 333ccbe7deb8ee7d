/** The rate limit of a crawl: evenly spread probes per second. */

export type ProbeRateLimit = {
  /** Milliseconds until the next probe may start. 0 means now. */
  wait(now: number): number
  /** Records the start of a probe. */
  acquire(now: number): void
  /** Sets the probes per second. Null for no limit. */
  setRate(perSecond: number | null): void
}

/** Milliseconds of probes that may catch up after an idle time. */
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
