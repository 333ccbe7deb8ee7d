/** A bell: who waits at it goes on when it rings, or when the time is over. */

/** `wait` resolves after so many milliseconds or when the signal comes, and never rejects. */
export type Clock = {
  /** Milliseconds of a clock that is never set. */
  ticks(): number
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
}

export type Bell = {
  ring(): void
  /** Resolves when it rings, at the latest after so many milliseconds. A ring that nobody waited for counts for who waits next. */
  wait(milliseconds: number): Promise<void>
}

/** A reason, because to make one, with its stack, takes longer than all the rest. */
const RUNG = 'rung'

export function makeBell(clock: Clock): Bell {
  let waiting: AbortController | null = null
  let isRung = false
  return {
    ring() {
      isRung = true
      waiting?.abort(RUNG)
    },
    async wait(milliseconds) {
      if (!isRung && milliseconds > 0) {
        waiting = new AbortController()
        await clock.wait(milliseconds, waiting.signal)
        waiting = null
      }
      isRung = false
    },
  }
}
