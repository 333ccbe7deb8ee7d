/** Time-outs that are fair to the other side: time in which this process had no processor does not count. */

/** Milliseconds between two looks at how late this process is. */
const TICK_MS = 10
/** Timers are as late as this on an idle machine, too. */
const USUAL_LATENESS_MS = 3
/** A wait is prolonged to so many times its length, at most. */
const MAX_PROLONGATION = 5

/** Milliseconds that this process was late for its own ticks, up to the last one. */
let missedMs = 0
/** When the next tick is due; null while nobody waits. */
let nextTickDue: number | null = null
let tickTimer: NodeJS.Timeout | undefined
let activeTimeouts = 0

/** Milliseconds for which this process could not do anything, since it began and while somebody waited. */
function stalledMs(): number {
  const late = nextTickDue === null ? 0 : performance.now() - nextTickDue
  return missedMs + (late > USUAL_LATENESS_MS ? late : 0)
}

/** Milliseconds of a clock that stands still while this process has no processor and somebody waits. */
export function stallAdjustedNow(): number {
  return performance.now() - stalledMs()
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
 * Calls `late` after so many milliseconds, unless what it returns is called before. A process that stood still (no processor,
 * a machine that was halted) has its wait prolonged by that time, and reads what came in meanwhile before anybody is called
 * late: otherwise our own pause would count as the other side's silence.
 */
export function setStallTolerantTimeout(milliseconds: number, onTimeout: () => void): () => void {
  let immediate: NodeJS.Immediate | undefined
  let isOver = false
  startTicking()
  let countedMs = stalledMs()
  let prolongationLeft = (MAX_PROLONGATION - 1) * milliseconds
  const stop = (): void => {
    if (!isOver) stopTicking()
    isOver = true
    clearTimeout(timer)
    clearImmediate(immediate)
  }
  const check = (): void => {
    const missedMore = Math.min(stalledMs() - countedMs, prolongationLeft)
    if (missedMore < 1) {
      immediate = setImmediate(() => {
        stop()
        onTimeout()
      })
      return
    }
    countedMs += missedMore
    prolongationLeft -= missedMore
    timer = setTimeout(check, missedMore)
  }
  let timer = setTimeout(check, milliseconds)
  return stop
}
