/**
 * The shelf in a folder, with one below it for each kind. A manifest says which file beside it has the bytes, and its
 * rename is the moment of publication, so that nobody ever sees the one without the other.
 */

import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { orNull, syncFolder, writeDurably } from './durable.ts'
import { BuildFault } from './fault.ts'
import { type FileKind, type FileName, type Manifest, type Opened, parseFileName, type Shelf } from './shelf.ts'
import { endWriter, sweep, writerName } from './shelf-leftovers.ts'

/** Bytes that are read at once. */
const PIECE = 131_072

/** A manifest as it lies in the folder: `data` is the name of the file that has the bytes. */
type Kept = Manifest & { data: string }

/** The shelf in the folder `root`, which is made with the first file. Throws what the system says of a folder that it cannot use. */
export function openShelfFolder(root: string): Shelf {
  const folderOf = (name: FileName): string => join(root, parseFileName(name)!.kind)
  return {
    publish: (name, content, describe) => publish(folderOf(name), name, content, describe),
    open: (name) => openFile(folderOf(name), name),
    manifest: async (name) => shown(await readManifest(folderOf(name), name)),
    list: (kind) => list(join(root, kind), kind),
    remove: (name) => remove(folderOf(name), name),
    room: () => room(resolve(root)),
  }
}

async function publish(folder: string, name: FileName, ...rest: Rest): Promise<Manifest> {
  const [content, describe] = rest
  await mkdir(folder, { recursive: true })
  await sweep(folder, async () => (await readAll(folder)).map(({ data }) => data))
  const data = writerName(name)
  try {
    const written = await writeDurably(join(folder, data), content)
    const description = describe(written)
    const former = await readManifest(folder, name)
    const { kind, date } = parseFileName(name)!
    const revision = (former?.revision ?? 0) + 1
    const generated = Math.max(description.generated, (former?.generated ?? -1) + 1)
    const kept: Kept = { name, kind, date, ...description, revision, generated, ...written, data }
    await putManifest(folder, kept)
    if (former !== null) await rm(join(folder, former.data), { force: true })
    return shown(kept)
  } catch (error) {
    const isPublished = (await readManifest(folder, name).catch(() => null))?.data === data
    if (!isPublished) for (const path of [data, manifestName(data)]) await rm(join(folder, path), { force: true })
    throw error
  } finally {
    endWriter(data)
  }
}

type Rest = Parameters<Shelf['publish']> extends [unknown, ...infer Others] ? Others : never

/** Publishes: from the rename on, the name stands for the new data, also after a loss of power. */
async function putManifest(folder: string, kept: Kept): Promise<void> {
  const fresh = join(folder, manifestName(kept.data))
  await writeDurably(fresh, lines(JSON.stringify(kept, null, 2)))
  await syncFolder(folder) // the data's name is on the disk before a manifest speaks of it
  await rename(fresh, join(folder, manifestName(kept.name)))
  await syncFolder(folder)
}

async function* lines(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${text}\n`)
}

/** Opens what the manifest speaks of; where that was replaced in between, what the newer one speaks of. */
async function openFile(folder: string, name: FileName): Promise<Opened | null> {
  for (let missing = ''; ; ) {
    const kept = await readManifest(folder, name)
    if (kept === null) return null
    const handle = await open(join(folder, kept.data)).catch(orNull)
    if (handle !== null) return opened(folder, handle, kept)
    if (missing === kept.data) throw damaged(folder, name, `${kept.data} is missing`)
    missing = kept.data
  }
}

async function opened(folder: string, handle: FileHandle, kept: Kept): Promise<Opened> {
  const { size } = await handle.stat()
  if (size === kept.bytes) {
    return { manifest: shown(kept), read: (start, end) => read(handle, start, end), close: () => handle.close() }
  }
  await handle.close()
  throw damaged(folder, kept.name, `${kept.data} has ${size} bytes, and not ${kept.bytes}`)
}

/** One buffer for all pieces: many slow readers cost one each. */
async function* read(handle: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE, end - start))
  for (let at = start; at < end; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, end - at), at)
    if (bytesRead === 0) throw new Error('a file of the shelf became shorter while it was read')
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function list(folder: string, kind: FileKind): Promise<Manifest[]> {
  const all = (await readAll(folder)).filter((kept) => kept.kind === kind)
  return all.sort((a, b) => (a.date < b.date ? -1 : 1)).map((kept) => shown(kept))
}

async function remove(folder: string, name: FileName): Promise<void> {
  const kept = await readManifest(folder, name)
  if (kept === null) return
  await rm(join(folder, manifestName(name)), { force: true })
  await syncFolder(folder)
  await rm(join(folder, kept.data), { force: true })
}

/** Of the disk that a folder is on, or would be made on. */
async function room(folder: string): Promise<number> {
  const disk = await statfs(folder).catch(orNull)
  return disk === null ? room(dirname(folder)) : disk.bavail * disk.bsize
}

/** All manifests of a folder. */
async function readAll(folder: string): Promise<Kept[]> {
  const entries = (await readdir(folder).catch(orNull)) ?? []
  const names = entries.flatMap((entry) => parseFileName(entry.replace(/\.json$/, ''))?.name ?? [])
  const found: Kept[] = []
  for (const name of names) {
    const kept = await readManifest(folder, name)
    if (kept !== null) found.push(kept)
  }
  return found
}

async function readManifest(folder: string, name: FileName): Promise<Kept | null> {
  const path = join(folder, manifestName(name))
  const text = await readFile(path, 'utf8').catch(orNull)
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    throw damaged(folder, name, 'it is no manifest')
  }
}

const manifestName = (name: string): string => `${name}.json`

/** A build of the same content would leave what is there: so its manifest has to go first. */
function damaged(folder: string, name: FileName, why: string): BuildFault {
  return new BuildFault(`${join(folder, manifestName(name))}: ${why}. Remove that manifest, and build its file anew`)
}

function shown(kept: Kept): Manifest
function shown(kept: Kept | null): Manifest | null
function shown(kept: Kept | null): Manifest | null {
  if (kept === null) return null
  const { data: _, ...manifest } = kept
  return manifest
}
