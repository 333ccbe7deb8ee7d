/** Time-outs that are fair to the other side: time in which this process had no processor does not count. */

/** Milliseconds between two looks at how late this process is. */
const TICK = 10
/** Timers are as late as this on an idle machine, too. */
const USUAL = 3
/** A wait is prolonged to so many times its length, at most. */
const MOST_TIMES = 5

/** Milliseconds that this process was late for its own ticks, up to the last one. */
let missed = 0
/** When the next tick is due; null while nobody waits. */
let expected: number | null = null
let meter: NodeJS.Timeout | undefined
let waits = 0

/** Milliseconds for which this process could not do anything, since it began and while somebody waited. */
function missedSoFar(): number {
  const late = expected === null ? 0 : performance.now() - expected
  return missed + (late > USUAL ? late : 0)
}

/** Milliseconds of a clock that stands still while this process has no processor and somebody waits. */
export function fairTime(): number {
  return performance.now() - missedSoFar()
}

function tick(): void {
  missed = missedSoFar()
  expected = performance.now() + TICK
}

function begin(): void {
  if (waits++ > 0) return
  expected = performance.now() + TICK
  meter = setInterval(tick, TICK).unref()
}

function end(): void {
  if (--waits > 0) return
  tick()
  expected = null
  clearInterval(meter)
}

/**
 * Calls `late` after so many milliseconds, unless what it returns is called before. A process that stood still (no processor,
 * a machine that was halted) has its wait prolonged by that time, and reads what came in meanwhile before anybody is called
 * late: otherwise our own pause would count as the other side's silence.
 */
export function waitFor(milliseconds: number, late: () => void): () => void {
  let turn: NodeJS.Immediate | undefined
  let isOver = false
  begin()
  let counted = missedSoFar()
  let left = (MOST_TIMES - 1) * milliseconds
  const stop = (): void => {
    if (!isOver) end()
    isOver = true
    clearTimeout(timer)
    clearImmediate(turn)
  }
  const check = (): void => {
    const more = Math.min(missedSoFar() - counted, left)
    if (more < 1) {
      turn = setImmediate(() => {
        stop()
        late()
      })
      return
    }
    counted += more
    left -= more
    timer = setTimeout(check, more)
  }
  let timer = setTimeout(check, milliseconds)
  return stop
}
