/** A log with static tiles (c2sp.org/static-ct-api, c2sp.org/tlog-tiles), each verified up to the root of a head. */

import { type CertificateLog, LogFault, LogUnavailable } from '../log.ts'
import type { EntrySource, VerifiedEntries } from './entry-source.ts'
import { streamDataTile } from './entry-stream.ts'
import { BodyTooLarge, type LogClient, type LogGet } from './log-client.ts'
import { addEntry, type EntrySummary, emptySummary, type LogEntry, parseDataTile } from './log-entry.ts'
import { CompactRange, completeRoot, equalBytes, HASH_BYTES } from './merkle-tree.ts'
import { parseCheckpoint, type TreeHead } from './tree-head.ts'

/** Nodes in a full tile, and leaves below a full tile of level 0. */
const TILE_WIDTH = 256

/** Full tiles of level 1 and above that are kept: each covers 65,536 entries or more. */
const MAX_KEPT_TILES = 64

/** A tile of a level of the tree, or of entries. `width`: nodes or entries in it. */
type TilePlace = { level: number | 'data'; tile: number; width: number; maxBytes: number }

class TileTree {
  readonly #log: CertificateLog
  readonly #get: LogGet
  readonly #head: TreeHead
  /**
   * The partial tile at the right edge of each level, from level 0; without nodes if the level ends with a full one.
   */
  #edge: Buffer[][] = []
  readonly #kept = new Map<string, Promise<Buffer[]>>()

  private constructor(log: CertificateLog, get: LogGet, head: TreeHead) {
    this.#log = log
    this.#get = get
    this.#head = head
  }

  /** Reads the right edge of the tree. Throws LogFault if it does not have the root of the head. */
  static async open(log: CertificateLog, get: LogGet, head: TreeHead): Promise<TileTree> {
    const tree = new TileTree(log, get, head)
    const reads: Promise<Buffer[]>[] = []
    for (let [level, nodes] = [0, head.size]; nodes > 0; level++, nodes = Math.floor(nodes / TILE_WIDTH)) {
      const width = nodes % TILE_WIDTH
      const tile = Math.floor(nodes / TILE_WIDTH)
      reads.push(width === 0 ? Promise.resolve([]) : tree.#readTile(level, tile, width))
    }
    tree.#edge = await Promise.all(reads)
    if (!equalBytes(tree.#range().root(), head.root)) throw new LogFault('its hash tiles do not fit its tree head')
    return tree
  }

  /** The hash of a leaf of the partial tile at the end. */
  lastLeaf(index: number): Buffer {
    return this.#edge[0]![index]!
  }

  /** The hash over a full tile of level 0, that is over 256 entries. */
  fullTileHash(tile: number): Promise<Buffer> {
    return this.#node(1, tile)
  }

  /** The compact range of the first leaves, at most those of the head. */
  async rangeOf(size: number): Promise<CompactRange> {
    const hashes: Buffer[] = []
    const levels: number[] = []
    for (let nodes = size; nodes > 0; nodes = Math.floor(nodes / TILE_WIDTH)) levels.push(nodes)
    for (const [level, nodes] of [...levels.entries()].reverse()) {
      const width = nodes % TILE_WIDTH
      if (width === 0) continue
      const row = await this.#tile(level, Math.floor(nodes / TILE_WIDTH))
      hashes.push(...subtreesOf(row.slice(0, width)))
    }
    return new CompactRange(size, hashes)
  }

  #range(): CompactRange {
    return new CompactRange(this.#head.size, this.#edge.toReversed().flatMap(subtreesOf))
  }

  async #node(level: number, index: number): Promise<Buffer> {
    const row = await this.#tile(level, Math.floor(index / TILE_WIDTH))
    return row[index % TILE_WIDTH]!
  }

  /** The nodes of a tile, verified: those at the right edge by the root, full ones by the tile above. */
  #tile(level: number, tile: number): Promise<Buffer[]> {
    const nodes = Math.floor(this.#head.size / TILE_WIDTH ** level)
    if (tile === Math.floor(nodes / TILE_WIDTH)) return Promise.resolve(this.#edge[level]!)
    const key = `${level} ${tile}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    const read = this.#verifiedTile(level, tile)
    read.catch(() => this.#kept.delete(key))
    if (this.#kept.size >= MAX_KEPT_TILES) this.#kept.delete(this.#kept.keys().next().value!)
    this.#kept.set(key, read)
    return read
  }

  async #verifiedTile(level: number, tile: number): Promise<Buffer[]> {
    const [row, parent] = await Promise.all([this.#readTile(level, tile, TILE_WIDTH), this.#node(level + 1, tile)])
    if (!equalBytes(completeRoot(row), parent))
      throw new LogFault(`its hash tile ${tile} of level ${level} does not fit its tree head`)
    return row
  }

  async #readTile(level: number, tile: number, width: number): Promise<Buffer[]> {
    const maxBytes = TILE_WIDTH * HASH_BYTES
    const { body: bytes, isWhole } = await requireTile(this.#log, this.#get, { level, tile, width, maxBytes })
    if (bytes.length !== (isWhole ? TILE_WIDTH : width) * HASH_BYTES)
      throw new LogFault(`its hash tile ${tile} of level ${level} has another length than expected`)
    return Array.from({ length: width }, (_, index) => bytes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES))
  }
}

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

export function openTileSource(log: CertificateLog, client: LogClient, keepsCertificates: boolean): EntrySource {
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
      yield* tileEntries({ log, client, keepsCertificates, tree: await treeOf(head), from: position, size: head.size })
    },
  }
}

/** Entries from `from` to before `size` are read. */
type TileReading = {
  log: CertificateLog
  client: LogClient
  keepsCertificates: boolean
  tree: TileTree
  from: number
  size: number
}
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
    const summary = emptySummary(reading.keepsCertificates)
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
  const summary = emptySummary(reading.keepsCertificates)
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

/** The roots of the complete subtrees of a row of nodes, the largest first. */
function subtreesOf(row: readonly Buffer[]): Buffer[] {
  const hashes: Buffer[] = []
  for (let [at, size] = [0, TILE_WIDTH / 2]; size >= 1; size /= 2) {
    if ((row.length & size) === 0) continue
    hashes.push(completeRoot(row.slice(at, at + size)))
    at += size
  }
  return hashes
}

/**
 * Reads a tile. A log may have removed a partial tile when the full one was there, so the full one is tried next
 * (`isWhole`). Throws LogUnavailable if there is neither.
 */
async function requireTile<Body>(
  log: CertificateLog,
  get: (url: string, maxBytes: number) => Promise<Body | null>,
  { level, tile, width, maxBytes }: TilePlace,
): Promise<{ body: Body; isWhole: boolean }> {
  const url = `${log.url}tile/${level}/${tilePath(tile)}`
  const part = width < TILE_WIDTH ? await get(`${url}.p/${width}`, maxBytes) : null
  if (part !== null) return { body: part, isWhole: false }
  const body = await get(url, maxBytes)
  if (body === null) throw new LogUnavailable(`${url} does not exist, although its tree head covers it`)
  return { body, isWhole: true }
}

/** `x001/x234/067` for 1234067: groups of three digits, all but the last after an x. */
function tilePath(tile: number): string {
  const digits = String(tile)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g)!
  return groups.map((group, index) => (index < groups.length - 1 ? `x${group}` : group)).join('/')
}
