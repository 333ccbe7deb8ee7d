/** Lets calls share runs of work: those that come while it runs share the next run. */

/** Returns a function that resolves after a run that started later than its call. At most one run is under way. */
export function sharedRuns(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  const start = (): Promise<void> => {
    next = null
    running = work()
    return running
  }
  return () => {
    next ??= running.then(start, start)
    return next
  }
}
