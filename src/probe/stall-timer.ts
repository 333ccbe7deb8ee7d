/** Timeouts that do not count the time in which this process had no processor. */

/** Milliseconds between two checks of the delay of this process. */
const TICK_MS = 10
/** Timers are this late even on an idle machine. */
const USUAL_LATENESS_MS = 3
/** The largest factor by which a timeout is extended. */
const MAX_EXTENSION_FACTOR = 5

/** Milliseconds by which the ticks of this process were late, up to the last tick. */
let missedMs = 0
/** When the next tick is due. Null if no timeout is active. */
let nextTickDue: number | null = null
let tickTimer: NodeJS.Timeout | undefined
let activeTimeouts = 0

/** Milliseconds for which this process stalled while a timeout was active, since it started. */
function stalledMs(now = performance.now()): number {
  const late = nextTickDue === null ? 0 : now - nextTickDue
  return missedMs + (late > USUAL_LATENESS_MS ? late : 0)
}

/** Milliseconds of a clock that stops while this process has no processor and a timeout is active. */
export function stallAdjustedNow(): number {
  const now = performance.now()
  return now - stalledMs(now)
}

function recordTick(): void {
  missedMs = stalledMs()
  nextTickDue = performance.now() + TICK_MS
}

function startTicking(): void {
  if (activeTimeouts++ > 0) return
  nextTickDue = performance.now() + TICK_MS
  tickTimer = setInterval(recordTick, TICK_MS).unref()
}

function stopTicking(): void {
  if (--activeTimeouts > 0) return
  recordTick()
  nextTickDue = null
  clearInterval(tickTimer)
}

/**
 * Calls `onTimeout` after this many milliseconds. The returned function cancels it. If the process stalls (no
 * processor, a suspended machine), the timeout is extended by that time. The process then reads what arrived before it
 * calls `onTimeout`. Otherwise a local stall would count as silence of the other side.
 */
export function setStallTolerantTimeout(milliseconds: number, onTimeout: () => void): () => void {
  let immediate: NodeJS.Immediate | undefined
  let isOver = false
  startTicking()
  let countedMs = stalledMs()
  let extensionLeft = (MAX_EXTENSION_FACTOR - 1) * milliseconds
  const stop = (): void => {
    if (!isOver) stopTicking()
    isOver = true
    clearTimeout(timer)
    clearImmediate(immediate)
  }
  const check = (): void => {
    const missedMore = Math.min(stalledMs() - countedMs, extensionLeft)
    if (missedMore < 1) {
      immediate = setImmediate(() => {
        stop()
        onTimeout()
      })
      return
    }
    countedMs += missedMore
    extensionLeft -= missedMore
    timer = setTimeout(check, missedMore)
  }
  let timer = setTimeout(check, milliseconds)
  return stop
}
