/** Splits long work into pieces: between any two pieces of any task, the event loop handles requests. */

const waiting: (() => void)[] = []

/** Resolves when the caller may run its next piece, in the order of the calls. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(runNext)
  })
}

function runNext(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(runNext)
}
