/** Merges the pages of several shards, each in byte order of its names, to pages in byte order. */

/** Lines of one shard, and the name of each. Never empty. */
export type ShardPage = { names: readonly string[]; lines: readonly string[] }

/** A shard, and the position of its next line. */
type Cursor = { pages: AsyncIterator<ShardPage>; page: ShardPage; index: number }

/**
 * Yields every line of `shards` once, at most `maxLines` at a time. Holds one page of each shard, and those that the
 * shards read ahead.
 */
export async function* mergePages(
  shards: readonly AsyncIterable<ShardPage>[],
  maxLines: number,
): AsyncGenerator<ShardPage> {
  const all = shards.map((shard) => shard[Symbol.asyncIterator]())
  try {
    const started = await Promise.all(all.map(startCursor))
    const cursors = started.filter((cursor) => cursor !== null).sort(compareCursors)
    let [names, lines]: [string[], string[]] = [[], []]
    for (let cursor = cursors.shift(); cursor !== undefined; cursor = cursors.shift()) {
      const end = endOfRun(cursor, cursors[0], maxLines - names.length)
      names.push(...cursor.page.names.slice(cursor.index, end))
      lines.push(...cursor.page.lines.slice(cursor.index, end))
      cursor.index = end
      if (names.length === maxLines) {
        yield { names, lines }
        ;[names, lines] = [[], []]
      }
      if (await hasMore(cursor)) insertCursor(cursors, cursor)
    }
    if (names.length > 0) yield { names, lines }
  } finally {
    await Promise.all(all.map((pages) => pages.return?.()))
  }
}

async function startCursor(pages: AsyncIterator<ShardPage>): Promise<Cursor | null> {
  const { done, value } = await pages.next()
  return done ? null : { pages, page: value, index: 0 }
}

/** Moves to the next page at the end of one. Returns false at the end of the shard. */
async function hasMore(cursor: Cursor): Promise<boolean> {
  if (cursor.index < cursor.page.names.length) return true
  const { done, value } = await cursor.pages.next()
  if (done) return false
  cursor.page = value
  cursor.index = 0
  return true
}

/** The end of the lines of a page that come before the next line of any other shard, at most `maxLines`. */
function endOfRun({ page: { names }, index }: Cursor, next: Cursor | undefined, maxLines: number): number {
  const max = Math.min(names.length, index + maxLines)
  if (next === undefined) return max
  const limit = nameAt(next)
  let end = index + 1
  while (end < max && names[end]! < limit) end++
  return end
}

function nameAt({ page, index }: Cursor): string {
  return page.names[index]!
}

function compareCursors(a: Cursor, b: Cursor): number {
  return nameAt(a) < nameAt(b) ? -1 : 1
}

/** `cursors`: sorted by their next names. */
function insertCursor(cursors: Cursor[], cursor: Cursor): void {
  const name = nameAt(cursor)
  let [from, to] = [0, cursors.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (nameAt(cursors[middle]!) < name) from = middle + 1
    else to = middle
  }
  cursors.splice(from, 0, cursor)
}
