/** Turns of the event loop: long work goes on in pieces, and between any two of them, whosever they are, requests are looked at. */

const waitingTurns: (() => void)[] = []

/** Resolves when it is the caller's turn for one more piece, in the order of asking. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (waitingTurns.push(resolve) === 1) setImmediate(runNextTurn)
  })
}

function runNextTurn(): void {
  waitingTurns.shift()?.()
  if (waitingTurns.length > 0) setImmediate(runNextTurn)
}
