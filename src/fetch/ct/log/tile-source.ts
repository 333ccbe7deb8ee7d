/** A log with static tiles (c2sp.org/static-ct-api, c2sp.org/tlog-tiles). */

import { type CertificateLog, LogFault } from '../log.ts'
import type { EntrySource, VerifiedEntries } from './entry-source.ts'
import type { LogGet } from './log-client.ts'
import { type LogEntry, parseDataTile } from './log-entry.ts'
import { completeRoot, equalBytes } from './merkle-tree.ts'
import { requireTile, TILE_WIDTH, TileTree } from './tile-tree.ts'
import { parseCheckpoint, type TreeHead } from './tree-head.ts'

const MAX_CHECKPOINT_BYTES = 65_536
/** 256 entries of the largest size that a data tile of a real log has, several times over. */
const MAX_DATA_TILE_BYTES = 2 ** 26
/** Data tiles that are requested at once. */
const TILES_AHEAD = 4

export function openTileSource(log: CertificateLog, get: LogGet): EntrySource {
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
      yield* tileEntries(log, get, await treeOf(head), { position, size: head.size })
    },
  }
}

/** Requests some tiles ahead, and yields the entries of each in their order. */
async function* tileEntries(
  log: CertificateLog,
  get: LogGet,
  tree: TileTree,
  { position, size }: { position: number; size: number },
): AsyncGenerator<VerifiedEntries> {
  const ahead: Promise<LogEntry[]>[] = []
  const last = Math.ceil(size / TILE_WIDTH)
  let next = Math.floor(position / TILE_WIDTH)
  for (let tile = next; tile < last; tile++) {
    for (; next < Math.min(tile + TILES_AHEAD, last); next++) {
      const entries = readTile(log, get, tree, next, size)
      entries.catch(() => {}) // reported when its turn comes
      ahead.push(entries)
    }
    const entries = await ahead.shift()!
    yield { entries: entries.slice(Math.max(0, position - tile * TILE_WIDTH)), hashes: [] }
  }
}

/** Reads a data tile, which is partial at the end of the tree, and verifies it. */
async function readTile(
  log: CertificateLog,
  get: LogGet,
  tree: TileTree,
  tile: number,
  size: number,
): Promise<LogEntry[]> {
  const width = Math.min(TILE_WIDTH, size - tile * TILE_WIDTH)
  const { bytes, isWhole } = await requireTile(log, get, { level: 'data', tile, width, maxBytes: MAX_DATA_TILE_BYTES })
  const entries = parseDataTile(bytes, isWhole ? TILE_WIDTH : width).slice(0, width)
  const hashes = entries.map((entry) => entry.hash)
  const isRight =
    width === TILE_WIDTH
      ? equalBytes(completeRoot(hashes), await tree.fullTileHash(tile))
      : hashes.every((hash, index) => equalBytes(hash, tree.lastLeaf(index)))
  if (!isRight)
    throw new LogFault(`its entries ${tile * TILE_WIDTH} to ${tile * TILE_WIDTH + width - 1} do not fit its tree head`)
  return entries
}
