/** Splits long work into pieces: between any two pieces of any task, the event loop handles requests. */

const waitingTurns: (() => void)[] = []

/** Resolves when the caller may run its next piece, in the order of the calls. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (waitingTurns.push(resolve) === 1) setImmediate(runNextTurn)
  })
}

function runNextTurn(): void {
  waitingTurns.shift()?.()
  if (waitingTurns.length > 0) setImmediate(runNextTurn)
}
