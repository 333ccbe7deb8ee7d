/** Turns of the event loop: long work goes on in pieces, and between any two of them, whosever they are, requests are looked at. */

const waiting: (() => void)[] = []

/** Resolves when it is the caller's turn for one more piece, in the order of asking. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(next)
  })
}

function next(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(next)
}
