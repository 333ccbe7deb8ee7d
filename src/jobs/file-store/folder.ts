/**
 * The file store in a folder, with a subfolder for each kind. A manifest names the data file next to it. Renaming the
 * manifest publishes both at once, so that no reader sees one without the other.
 */

import { type FileHandle, open, readdir, readFile, rename, rm, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { BuildFault } from './build-fault.ts'
import { ensureFolder, lineContent, nullIfMissing, syncFolder, writeDurably } from './durable.ts'
import {
  type FileKind,
  type FileManifest,
  type FileName,
  type FileStore,
  nextManifest,
  type OpenedFile,
  parseFileName,
  type StoredManifest,
  withoutData,
} from './file-store.ts'
import { endWriter, newWriterName, removeLeftovers } from './leftovers.ts'
import { folderNotes } from './place-mark.ts'

/** Bytes per read. */
const READ_CHUNK_BYTES = 131_072

/**
 * Opens the file store in the folder `root`, which the first file creates. Throws system errors of an unusable folder.
 */
export function openFolderFileStore(root: string): FileStore {
  const folderOf = (name: FileName): string => join(root, parseFileName(name)!.kind)
  return {
    publish: (name, content, describe) => publishInFolder(folderOf(name), name, content, describe),
    open: (name) => openPublishedFile(folderOf(name), name),
    manifest: async (name) => withoutData(await readFileManifest(folderOf(name), name)),
    list: (kind) => listManifests(join(root, kind), kind),
    remove: (name) => removeFile(folderOf(name), name),
    notes: folderNotes(root),
    freeBytes: () => freeBytes(resolve(root)),
  }
}

async function publishInFolder(folder: string, name: FileName, ...rest: PublishArguments): Promise<FileManifest> {
  const [content, describe] = rest
  await ensureFolder(folder)
  await removeLeftovers(folder, async () => (await readManifests(folder)).map(({ data }) => data))
  const data = newWriterName(name)
  try {
    const written = await writeDurably(join(folder, data), content)
    const description = describe(written)
    const former = await readFileManifest(folder, name)
    const stored = nextManifest(name, former, description, written, data)
    await replaceManifest(folder, stored)
    if (former !== null) await rm(join(folder, former.data), { force: true })
    return withoutData(stored)
  } catch (error) {
    const isPublished = (await readFileManifest(folder, name).catch(() => null))?.data === data
    if (!isPublished) for (const path of [data, manifestName(data)]) await rm(join(folder, path), { force: true })
    throw error
  } finally {
    endWriter(data)
  }
}

type PublishArguments = Parameters<FileStore['publish']> extends [unknown, ...infer Others] ? Others : never

/** Publishes: after the rename, the name refers to the new data, even after a power failure. */
async function replaceManifest(folder: string, stored: StoredManifest): Promise<void> {
  const temporary = join(folder, manifestName(stored.data))
  await writeDurably(temporary, lineContent(JSON.stringify(stored, null, 2)))
  await syncFolder(folder) // the data file is on disk before a manifest refers to it
  await rename(temporary, join(folder, manifestName(stored.name)))
  await syncFolder(folder)
}

/** Opens the data file of the manifest. If it was replaced meanwhile, opens that of the newer manifest. */
async function openPublishedFile(folder: string, name: FileName): Promise<OpenedFile | null> {
  for (let missing = ''; ; ) {
    const stored = await readFileManifest(folder, name)
    if (stored === null) return null
    const handle = await open(join(folder, stored.data)).catch(nullIfMissing)
    if (handle !== null) return openVerified(folder, handle, stored)
    if (missing === stored.data) throw damagedManifest(folder, name, `${stored.data} is missing`)
    missing = stored.data
  }
}

async function openVerified(folder: string, handle: FileHandle, stored: StoredManifest): Promise<OpenedFile> {
  const { size } = await handle.stat()
  if (size === stored.bytes) {
    return {
      manifest: withoutData(stored),
      read: (start, end) => readRange(handle, start, end),
      close: () => handle.close(),
    }
  }
  await handle.close()
  throw damagedManifest(folder, stored.name, `${stored.data} has ${size} bytes instead of ${stored.bytes}`)
}

/** Uses one buffer for all chunks, so that each slow reader costs one buffer. */
async function* readRange(handle: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(READ_CHUNK_BYTES, end - start))
  for (let at = start; at < end; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, end - at), at)
    if (bytesRead === 0) throw new Error('a file of the file store was truncated while it was read')
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function listManifests(folder: string, kind: FileKind): Promise<FileManifest[]> {
  const all = (await readManifests(folder)).filter((stored) => stored.kind === kind)
  return all.sort((a, b) => (a.date < b.date ? -1 : 1)).map((stored) => withoutData(stored))
}

async function removeFile(folder: string, name: FileName): Promise<void> {
  const stored = await readFileManifest(folder, name)
  if (stored === null) return
  await rm(join(folder, manifestName(name)), { force: true })
  await syncFolder(folder)
  await rm(join(folder, stored.data), { force: true })
}

/** Free bytes of the disk that contains the folder, or would contain it. */
async function freeBytes(folder: string): Promise<number> {
  const disk = await statfs(folder).catch(nullIfMissing)
  return disk === null ? freeBytes(dirname(folder)) : disk.bavail * disk.bsize
}

/** Reads all manifests of a folder. */
async function readManifests(folder: string): Promise<StoredManifest[]> {
  const entries = (await readdir(folder).catch(nullIfMissing)) ?? []
  const names = entries.flatMap((entry) => parseFileName(entry.replace(/\.json$/, ''))?.name ?? [])
  const found: StoredManifest[] = []
  for (const name of names) {
    const stored = await readFileManifest(folder, name)
    if (stored !== null) found.push(stored)
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
    throw damagedManifest(folder, name, 'it is not a manifest')
  }
}

const manifestName = (name: string): string => `${name}.json`

/** A build of the same content would not replace the damaged file, so its manifest must be removed first. */
function damagedManifest(folder: string, name: FileName, why: string): BuildFault {
  return new BuildFault(`${join(folder, manifestName(name))}: ${why}. Remove that manifest and rebuild its file`)
}
