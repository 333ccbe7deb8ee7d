/**
 * The shelf in a folder, with one below it for each kind. A manifest says which file beside it has the bytes, and its
 * rename is the moment of publication, so that nobody ever sees the one without the other.
 */

import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { BuildFault } from './build-fault.ts'
import { nullIfMissing, syncFolder, writeDurably } from './durable.ts'
import {
  type FileKind,
  type FileManifest,
  type FileName,
  type FileStore,
  type OpenedFile,
  parseFileName,
} from './file-store.ts'
import { endWriter, newWriterName, removeLeftovers } from './leftovers.ts'

/** Bytes that are read at once. */
const READ_CHUNK_BYTES = 131_072

/** A manifest as it lies in the folder: `data` is the name of the file that has the bytes. */
type StoredManifest = FileManifest & { data: string }

/** The shelf in the folder `root`, which is made with the first file. Throws what the system says of a folder that it cannot use. */
export function openFolderFileStore(root: string): FileStore {
  const folderOf = (name: FileName): string => join(root, parseFileName(name)!.kind)
  return {
    publish: (name, content, describe) => publishInFolder(folderOf(name), name, content, describe),
    open: (name) => openPublishedFile(folderOf(name), name),
    manifest: async (name) => withoutDataFile(await readFileManifest(folderOf(name), name)),
    list: (kind) => listManifests(join(root, kind), kind),
    remove: (name) => removeFile(folderOf(name), name),
    freeBytes: () => freeBytes(resolve(root)),
  }
}

async function publishInFolder(folder: string, name: FileName, ...rest: PublishArguments): Promise<FileManifest> {
  const [content, describe] = rest
  await mkdir(folder, { recursive: true })
  await removeLeftovers(folder, async () => (await readManifests(folder)).map(({ data }) => data))
  const data = newWriterName(name)
  try {
    const written = await writeDurably(join(folder, data), content)
    const description = describe(written)
    const former = await readFileManifest(folder, name)
    const { kind, date } = parseFileName(name)!
    const revision = (former?.revision ?? 0) + 1
    const generated = Math.max(description.generated, (former?.generated ?? -1) + 1)
    const kept: StoredManifest = { name, kind, date, ...description, revision, generated, ...written, data }
    await replaceManifest(folder, kept)
    if (former !== null) await rm(join(folder, former.data), { force: true })
    return withoutDataFile(kept)
  } catch (error) {
    const isPublished = (await readFileManifest(folder, name).catch(() => null))?.data === data
    if (!isPublished) for (const path of [data, manifestName(data)]) await rm(join(folder, path), { force: true })
    throw error
  } finally {
    endWriter(data)
  }
}

type PublishArguments = Parameters<FileStore['publish']> extends [unknown, ...infer Others] ? Others : never

/** Publishes: from the rename on, the name stands for the new data, also after a loss of power. */
async function replaceManifest(folder: string, stored: StoredManifest): Promise<void> {
  const fresh = join(folder, manifestName(stored.data))
  await writeDurably(fresh, manifestJsonLine(JSON.stringify(stored, null, 2)))
  await syncFolder(folder) // the data's name is on the disk before a manifest speaks of it
  await rename(fresh, join(folder, manifestName(stored.name)))
  await syncFolder(folder)
}

async function* manifestJsonLine(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${text}\n`)
}

/** Opens what the manifest speaks of; where that was replaced in between, what the newer one speaks of. */
async function openPublishedFile(folder: string, name: FileName): Promise<OpenedFile | null> {
  for (let missing = ''; ; ) {
    const kept = await readFileManifest(folder, name)
    if (kept === null) return null
    const handle = await open(join(folder, kept.data)).catch(nullIfMissing)
    if (handle !== null) return openVerified(folder, handle, kept)
    if (missing === kept.data) throw damagedManifest(folder, name, `${kept.data} is missing`)
    missing = kept.data
  }
}

async function openVerified(folder: string, handle: FileHandle, stored: StoredManifest): Promise<OpenedFile> {
  const { size } = await handle.stat()
  if (size === stored.bytes) {
    return {
      manifest: withoutDataFile(stored),
      read: (start, end) => readRange(handle, start, end),
      close: () => handle.close(),
    }
  }
  await handle.close()
  throw damagedManifest(folder, stored.name, `${stored.data} has ${size} bytes, and not ${stored.bytes}`)
}

/** One buffer for all pieces: many slow readers cost one each. */
async function* readRange(handle: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(READ_CHUNK_BYTES, end - start))
  for (let at = start; at < end; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, end - at), at)
    if (bytesRead === 0) throw new Error('a file of the shelf became shorter while it was read')
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function listManifests(folder: string, kind: FileKind): Promise<FileManifest[]> {
  const all = (await readManifests(folder)).filter((kept) => kept.kind === kind)
  return all.sort((a, b) => (a.date < b.date ? -1 : 1)).map((kept) => withoutDataFile(kept))
}

async function removeFile(folder: string, name: FileName): Promise<void> {
  const kept = await readFileManifest(folder, name)
  if (kept === null) return
  await rm(join(folder, manifestName(name)), { force: true })
  await syncFolder(folder)
  await rm(join(folder, kept.data), { force: true })
}

/** Of the disk that a folder is on, or would be made on. */
async function freeBytes(folder: string): Promise<number> {
  const disk = await statfs(folder).catch(nullIfMissing)
  return disk === null ? freeBytes(dirname(folder)) : disk.bavail * disk.bsize
}

/** All manifests of a folder. */
async function readManifests(folder: string): Promise<StoredManifest[]> {
  const entries = (await readdir(folder).catch(nullIfMissing)) ?? []
  const names = entries.flatMap((entry) => parseFileName(entry.replace(/\.json$/, ''))?.name ?? [])
  const found: StoredManifest[] = []
  for (const name of names) {
    const kept = await readFileManifest(folder, name)
    if (kept !== null) found.push(kept)
  }
  return found
}

async function readFileManifest(folder: string, name: FileName): Promise<StoredManifest | null> {
  const path = join(folder, manifestName(name))
  const text = await readFile(path, 'utf8').catch(nullIfMissing)
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    throw damagedManifest(folder, name, 'it is no manifest')
  }
}

const manifestName = (name: string): string => `${name}.json`

/** A build of the same content would leave what is there: so its manifest has to go first. */
function damagedManifest(folder: string, name: FileName, why: string): BuildFault {
  return new BuildFault(`${join(folder, manifestName(name))}: ${why}. Remove that manifest, and build its file anew`)
}

function withoutDataFile(kept: StoredManifest): FileManifest
function withoutDataFile(kept: StoredManifest | null): FileManifest | null
function withoutDataFile(kept: StoredManifest | null): FileManifest | null {
  if (kept === null) return null
  const { data: _, ...manifest } = kept
  return manifest
}
