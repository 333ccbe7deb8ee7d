/**
 * A disk in memory, of which a loss of power takes what was not synced: the content of files, and the entries of
 * folders. It has the rules of POSIX, not those of one file system: a synced file can still be missing in its folder.
 * Only a rename is atomic, and a change of an entry comes after earlier changes of the same entry.
 */

import { type RandomSource, randomInt } from '../../bench/world/random.ts'

/** `synced`: the content that a loss of power leaves; null: that of a file that was never synced. */
export type FileNode = { content: Buffer; synced: Buffer | null; mtimeMs: number; atimeMs: number }
/** `durable`: the entries that a loss of power leaves. `creation`: the change that created the folder. */
export type FolderNode = {
  entries: Map<string, DiskNode>
  durable: Map<string, DiskNode>
  mtimeMs: number
  creation: EntryChange | null
}
type DiskNode = FileNode | FolderNode
/** The new content of one entry; null: it was removed. */
type Entry = { folder: FolderNode; name: string; node: DiskNode | null }
/** A change of one entry, or of two by a rename. `emptied`: a folder that was removed. */
type EntryChange = { entries: Entry[]; emptied: FolderNode | null }

/** An error as the file system reports it. */
export function fileError(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: the simulated disk, '${path}'`), { code, path })
}

export const isFolder = (node: DiskNode): node is FolderNode => 'entries' in node

export class SimulatedDisk {
  readonly #now: () => number
  readonly #root: FolderNode
  #pending: EntryChange[] = []
  #ticks = 0

  /** `now`: milliseconds. Each change gets a later time than the one before it. */
  constructor(now: () => number) {
    this.#now = now
    this.#root = { entries: new Map(), durable: new Map(), mtimeMs: now(), creation: null }
  }

  /** Returns null if there is nothing. */
  find(path: string): DiskNode | null {
    let node: DiskNode = this.#root
    for (const name of partsOf(path)) {
      if (!isFolder(node)) throw fileError('ENOTDIR', path)
      const next = node.entries.get(name)
      if (next === undefined) return null
      node = next
    }
    return node
  }

  require(path: string): DiskNode {
    const node = this.find(path)
    if (node === null) throw fileError('ENOENT', path)
    return node
  }

  file(path: string): FileNode {
    const node = this.require(path)
    if (isFolder(node)) throw fileError('EISDIR', path)
    return node
  }

  folder(path: string): FolderNode {
    const node = this.require(path)
    if (!isFolder(node)) throw fileError('ENOTDIR', path)
    return node
  }

  /** Opens a file to write it from its start. */
  create(path: string, isNew: boolean): FileNode {
    const found = this.find(path)
    if (found !== null && isFolder(found)) throw fileError('EISDIR', path)
    if (found !== null && isNew) throw fileError('EEXIST', path)
    if (found !== null) {
      this.setContent(found, Buffer.alloc(0))
      return found
    }
    const time = this.#tick()
    const node: FileNode = { content: Buffer.alloc(0), synced: null, mtimeMs: time, atimeMs: time }
    this.#change([{ ...this.#placeOf(path), node }])
    return node
  }

  setContent(node: FileNode, content: Buffer): void {
    node.content = content
    node.mtimeMs = this.#tick()
  }

  createFolder(path: string): void {
    if (this.find(path) !== null) throw fileError('EEXIST', path)
    const node: FolderNode = { entries: new Map(), durable: new Map(), mtimeMs: this.#tick(), creation: null }
    node.creation = this.#change([{ ...this.#placeOf(path), node }])
  }

  rename(from: string, to: string): void {
    const node = this.require(from)
    const target = this.find(to)
    if (target === node) return
    if (target !== null && isFolder(target) !== isFolder(node))
      throw fileError(isFolder(target) ? 'EISDIR' : 'ENOTDIR', to)
    if (target !== null && isFolder(target) && target.entries.size > 0) throw fileError('ENOTEMPTY', to)
    this.#change([
      { ...this.#placeOf(to), node },
      { ...this.#placeOf(from), node: null },
    ])
  }

  remove(path: string): void {
    const node = this.require(path)
    const folder = isFolder(node) ? node : null
    if (folder !== null && folder.entries.size > 0) throw fileError('ENOTEMPTY', path)
    this.#change([{ ...this.#placeOf(path), node: null }], folder)
  }

  sync(node: DiskNode): void {
    if (!isFolder(node)) node.synced = node.content
    else this.#keep(this.#pending.filter(({ entries }) => entries.some(({ folder }) => folder === node)))
  }

  /** All that was not synced is lost, kept, or partly lost. Nothing may use the disk meanwhile. */
  losePower(random: RandomSource): void {
    const share = [0, 0.5, 1][randomInt(random, 3)]!
    const lost = new Set<EntryChange>()
    for (const change of this.#pending) {
      const isLost = this.#needed(change).some((each) => lost.has(each)) || random() < share
      if (isLost) lost.add(change)
    }
    this.#keep(this.#pending.filter((change) => !lost.has(change)))
    this.#pending = []
    revert(this.#root, random)
  }

  /** The paths of all files. */
  paths(folder: FolderNode = this.#root, prefix = ''): string[] {
    return [...folder.entries].flatMap(([name, node]) =>
      isFolder(node) ? this.paths(node, `${prefix}/${name}`) : [`${prefix}/${name}`],
    )
  }

  #tick(): number {
    return this.#now() + (++this.#ticks % 1e6) / 1e3
  }

  #placeOf(path: string): Pick<Entry, 'folder' | 'name'> {
    const parts = partsOf(path)
    return { folder: this.folder(parts.slice(0, -1).join('/')), name: parts.at(-1)! }
  }

  #change(entries: Entry[], emptied: FolderNode | null = null): EntryChange {
    const change: EntryChange = { entries, emptied }
    for (const entry of entries) {
      apply(entry.folder.entries, entry)
      entry.folder.mtimeMs = this.#tick()
    }
    this.#pending.push(change)
    return change
  }

  /** The pending changes without which a change cannot be on the disk. */
  #needed(change: EntryChange): EntryChange[] {
    const before = this.#pending.slice(0, this.#pending.indexOf(change))
    return before.filter((each) => precedes(each, change))
  }

  /** Makes changes durable, with all that they need. */
  #keep(changes: readonly EntryChange[]): void {
    const kept = new Set<EntryChange>()
    const add = (change: EntryChange): void => {
      if (kept.has(change)) return
      kept.add(change)
      for (const each of this.#needed(change)) add(each)
    }
    for (const change of changes) add(change)
    for (const change of this.#pending)
      if (kept.has(change)) for (const entry of change.entries) apply(entry.folder.durable, entry)
    this.#pending = this.#pending.filter((change) => !kept.has(change))
  }
}

function precedes(earlier: EntryChange, later: EntryChange): boolean {
  return (
    later.entries.some(
      ({ folder, name }) =>
        folder.creation === earlier || earlier.entries.some((each) => each.folder === folder && each.name === name),
    ) || earlier.entries.some(({ folder }) => folder === later.emptied)
  )
}

function apply(entries: Map<string, DiskNode>, { name, node }: Entry): void {
  if (node === null) entries.delete(name)
  else entries.set(name, node)
}

/** Sets a folder, and all in it, to what is durable. */
function revert(folder: FolderNode, random: RandomSource): void {
  folder.entries = new Map(folder.durable)
  folder.creation = null
  for (const node of folder.entries.values()) {
    if (isFolder(node)) revert(node, random)
    else {
      if (node.synced !== node.content) node.content = torn(node, random)
      node.synced = node.content
    }
  }
}

/** What a loss of power leaves of a file that was not synced: the former content, the new one, or a part of it. */
function torn({ content, synced }: FileNode, random: RandomSource): Buffer {
  const part = content.subarray(0, randomInt(random, content.length + 1))
  return [synced ?? Buffer.alloc(0), content, part][randomInt(random, 3)]!
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '')
