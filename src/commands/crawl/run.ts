/** Visits in flight: names of a list are taken as others are done, as many at once as are allowed. */

import type { Entry, Named } from './list.ts'

export type Task = {
  entries: AsyncIterable<Entry>
  /** Visits in flight at once, at most. */
  parallel: number
  /** Asks for the end: no other name is begun. */
  signal: AbortSignal
  /** Told of every line as it is taken. */
  begin(entry: Entry): void
  /** Visits a name and hands over what was seen; a rejection ends the crawl. */
  visit(entry: Named): Promise<void>
}

/** Milliseconds that what is in flight has after it was asked to end; what is not done then stays undone. */
const PATIENCE = 15_000

/** True where the list came to its end, false where it was stopped. Throws what a visit or the list throws, when no visit is in flight. */
export async function visitAll({ entries, parallel, signal, begin, visit }: Task): Promise<boolean> {
  const iterator = entries[Symbol.asyncIterator]()
  const patience = giveUpAfter(signal, PATIENCE)
  let failure: { error: unknown } | null = null
  let isDone = false
  const take = async (): Promise<void> => {
    while (!signal.aborted && failure === null && !isDone) {
      const next = await iterator.next()
      if (next.done) isDone = true
      else begin(next.value)
      if (!next.done && next.value.name !== null) await patience.allow(visit(next.value))
    }
  }
  const taken = Array.from({ length: parallel }, () =>
    take().catch((error) => {
      if (!signal.aborted || error.name !== 'AbortError') failure ??= { error }
    }),
  )
  await Promise.all(taken)
  patience.end()
  if (failure !== null) throw (failure as { error: unknown }).error
  return !signal.aborted
}

/** `allow` resolves with the work, or when time is up. (A race with one promise for all would hold on to every one of them.) */
function giveUpAfter(signal: AbortSignal, milliseconds: number) {
  const waiting = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  const begin = (): void => {
    timer = setTimeout(() => {
      for (const giveUp of waiting) giveUp()
    }, milliseconds)
  }
  signal.addEventListener('abort', begin)
  return {
    allow: (work: Promise<void>): Promise<void> =>
      new Promise<void>((resolve, reject) => {
        waiting.add(resolve)
        work.then(resolve, reject).finally(() => waiting.delete(resolve))
      }),
    end(): void {
      signal.removeEventListener('abort', begin)
      clearTimeout(timer)
    },
  }
}
