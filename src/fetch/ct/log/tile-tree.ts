/** The hash tiles of a log, verified up to the root of a head (c2sp.org/tlog-tiles). */

import { type CertificateLog, LogFault, LogUnavailable } from '../log.ts'
import type { LogGet } from './log-client.ts'
import { CompactRange, completeRoot, equalBytes, HASH_BYTES } from './merkle-tree.ts'
import type { TreeHead } from './tree-head.ts'

/** Nodes in a full tile, and leaves below a full tile of level 0. */
export const TILE_WIDTH = 256
/** Full tiles of level 1 and above that are kept: each covers 65,536 entries or more. */
const MAX_KEPT_TILES = 64

/** A tile of a level of the tree, or of entries. `width`: nodes or entries in it. */
type TilePlace = { level: number | 'data'; tile: number; width: number; maxBytes: number }

export class TileTree {
  readonly #log: CertificateLog
  readonly #get: LogGet
  readonly #head: TreeHead
  /** The partial tile at the right edge of each level, from level 0; without nodes if the level ends with a full one. */
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
export async function requireTile<Body>(
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
