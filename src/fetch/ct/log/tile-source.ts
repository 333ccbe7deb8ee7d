/** A log with static tiles (c2sp.org/static-ct-api, c2sp.org/tlog-tiles). */

import { type CertificateLog, LogFault } from '../log.ts'
import type { EntrySource, VerifiedEntries } from './entry-source.ts'
import { streamDataTile } from './entry-stream.ts'
import { BodyTooLarge, type LogClient } from './log-client.ts'
import { addEntry, type EntrySummary, emptySummary, type LogEntry, parseDataTile } from './log-entry.ts'
import { completeRoot, equalBytes } from './merkle-tree.ts'
import { requireTile, TILE_WIDTH, TileTree } from './tile-tree.ts'
import { parseCheckpoint, type TreeHead } from './tree-head.ts'

const MAX_CHECKPOINT_BYTES = 65_536
/** Data tiles that are requested at once. */
const TILES_AHEAD = 4
/** Of a data tile that is requested ahead, and decoded at once: twice those of honest logs. */
const MAX_BYTES_AHEAD = 2 ** 21
const MAX_NAMES_AHEAD = 2_048
/** Of a data tile that passes through in pieces. */
const MAX_DATA_TILE_BYTES = 2 ** 26
/** Distinct names of a data tile: 128 of each certificate. The certificates after them count as unusable. */
const MAX_TILE_NAMES = 32_768

export function openTileSource(log: CertificateLog, client: LogClient): EntrySource {
  const { get } = client
  const tree = (head: TreeHead): Promise<TileTree> => TileTree.open(log, get, head)
  let current: { head: TreeHead; tree: Promise<TileTree> } | null = null
  const treeOf = (head: TreeHead): Promise<TileTree> => {
    if (current?.head !== head) current = { head, tree: tree(head) }
    return current.tree
  }
  return {
    async head() {
      const bytes = await get(`${log.url}checkpoint`, MAX_CHECKPOINT_BYTES)
      if (bytes === null) throw new LogFault('it has no checkpoint')
      return parseCheckpoint(log, bytes.toString('utf8'))
    },
    async requireConsistency(former, head) {
      const range = await (await treeOf(head)).rangeOf(former.size)
      if (range.root().toString('base64') !== former.root)
        throw new LogFault(`its tree of ${head.size} entries does not begin with its former tree of ${former.size}`)
    },
    startAt: async (position) => ({ position, hashes: [] }),
    async *entries({ position }, head) {
      yield* tileEntries({ log, client, tree: await treeOf(head), from: position, size: head.size })
    },
  }
}

/** Entries from `from` to before `size` are read. */
type TileReading = { log: CertificateLog; client: LogClient; tree: TileTree; from: number; size: number }
type Tile = { tile: number; width: number }

/**
 * Requests some tiles ahead, and yields what the entries of each come to, in their order. A long one is dropped and read
 * again in its turn, one at a time of all logs, so that few names are in memory.
 */
async function* tileEntries(reading: TileReading): AsyncGenerator<VerifiedEntries> {
  const ahead: Promise<EntrySummary | 'long'>[] = []
  const last = Math.ceil(reading.size / TILE_WIDTH)
  let next = Math.floor(reading.from / TILE_WIDTH)
  for (let tile = next; tile < last; tile++) {
    for (; next < Math.min(tile + TILES_AHEAD, last); next++) {
      const summary = readShortTile(reading, placeOf(next, reading.size))
      summary.catch(() => {}) // reported when its turn comes
      ahead.push(summary)
    }
    const summary = await ahead.shift()!
    if (summary !== 'long') {
      yield { summary, hashes: [] }
      continue
    }
    const release = await reading.client.longReads.take()
    try {
      yield { summary: await readLongTile(reading, placeOf(tile, reading.size)), hashes: [] }
    } finally {
      release()
    }
  }
}

/** A tile is partial at the end of the tree. */
function placeOf(tile: number, size: number): Tile {
  return { tile, width: Math.min(TILE_WIDTH, size - tile * TILE_WIDTH) }
}

async function readShortTile(reading: TileReading, place: Tile): Promise<EntrySummary | 'long'> {
  const { log, client } = reading
  try {
    const options = { level: 'data', ...place, maxBytes: MAX_BYTES_AHEAD } as const
    const { body, isWhole } = await requireTile(log, client.get, options)
    const summary = emptySummary()
    const hashes: Buffer[] = []
    for (const entry of parseDataTile(body, isWhole ? TILE_WIDTH : place.width)) {
      addTileEntry(reading, place, { summary, hashes }, entry)
      if (summary.names.size > MAX_NAMES_AHEAD) return 'long'
    }
    await requireHashes(reading.tree, place, hashes)
    return summary
  } catch (error) {
    if (error instanceof BodyTooLarge) return 'long'
    throw error
  }
}

async function readLongTile(reading: TileReading, place: Tile): Promise<EntrySummary> {
  const { log, client } = reading
  const options = { level: 'data', ...place, maxBytes: MAX_DATA_TILE_BYTES } as const
  const { body, isWhole } = await requireTile(log, client.stream, options)
  const summary = emptySummary()
  const hashes: Buffer[] = []
  for await (const entry of streamDataTile(body, isWhole ? TILE_WIDTH : place.width)) {
    const isOver = summary.names.size >= MAX_TILE_NAMES
    addTileEntry(reading, place, { summary, hashes }, isOver ? { ...entry, certificate: null } : entry)
  }
  await requireHashes(reading.tree, place, hashes)
  return summary
}

/** Keeps the hash, and the names if the entry is one of those that are read. */
function addTileEntry(
  { from, size }: TileReading,
  { tile }: Tile,
  { summary, hashes }: { summary: EntrySummary; hashes: Buffer[] },
  entry: LogEntry,
): void {
  const index = tile * TILE_WIDTH + hashes.length
  hashes.push(entry.hash)
  if (index >= from && index < size) addEntry(summary, entry)
}

/** Throws LogFault unless the hashes of a tile are those of the tree. */
async function requireHashes(tree: TileTree, { tile, width }: Tile, hashes: readonly Buffer[]): Promise<void> {
  const isRight =
    width === TILE_WIDTH
      ? equalBytes(completeRoot(hashes), await tree.fullTileHash(tile))
      : hashes.slice(0, width).every((hash, index) => equalBytes(hash, tree.lastLeaf(index)))
  if (!isRight)
    throw new LogFault(`its entries ${tile * TILE_WIDTH} to ${tile * TILE_WIDTH + width - 1} do not fit its tree head`)
}
