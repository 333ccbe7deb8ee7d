/** Time-outs that are fair after a pause: what came in meanwhile is heard before anybody is called late. */

/**
 * Calls `late` after so many milliseconds, unless what it returns is called before. A process that stood still (no processor,
 * a machine that was halted) finds its timers run out and the answers waiting: they are read first, as otherwise our own
 * pause would count as the other side's silence.
 */
export function waitFor(milliseconds: number, late: () => void): () => void {
  let turn: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    turn = setImmediate(late)
  }, milliseconds)
  return () => {
    clearTimeout(timer)
    clearImmediate(turn)
  }
}
