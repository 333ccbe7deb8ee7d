/** Gathers items to batches that are written one after another, when there are enough of them or the oldest has waited. */

export type Batches<Item> = {
  /** Resolves when there is room for another one; rejects when a batch could not be written. */
  add(item: Item): Promise<void>
  /** Writes what is left; resolves when all is written. */
  end(): Promise<void>
}

/** `most` items a batch, and as many may wait besides; `patience` in milliseconds. */
export function batches<Item>(most: number, patience: number, write: (items: Item[]) => Promise<void>): Batches<Item> {
  let waiting: Item[] = []
  let writing: Promise<void> = Promise.resolve()
  let failure: { error: unknown } | null = null
  let timer: NodeJS.Timeout | undefined
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const items = waiting
    waiting = []
    if (items.length > 0) writing = writing.then(() => write(items))
    writing.catch((error) => {
      failure ??= { error }
    })
    return writing
  }
  return {
    async add(item) {
      if (failure !== null) throw failure.error
      waiting.push(item)
      timer ??= setTimeout(flush, patience)
      if (waiting.length < most) return
      const before = writing
      void flush()
      await before
    },
    end: flush,
  }
}
