/**
 * The file store in S3, with a folder for each kind. A manifest names its data object, whose key is used once. Writing
 * the manifest publishes both, so that no reader sees one without the other.
 */

import { randomBytes } from 'node:crypto'
import { SECONDS_PER_DAY } from '../../../values/time.ts'
import { BuildFault } from '../build-fault.ts'
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
} from '../file-store.ts'
import { type ListedObject, S3Objects, type S3Options } from './objects.ts'
import { uploadObject } from './upload.ts'

/** Requests that run at the same time. */
const GROUP_SIZE = 16

/** Reads manifests from S3. A listing reads only those that changed since the last one. */
const manifestKey = (name: FileName): string => `${parseFileName(name)!.kind}/${name}.json`

class ManifestReader {
  readonly #objects: Pick<S3Objects, 'text' | 'url'>
  /** The last version of each manifest that was read. */
  readonly #known = new Map<string, { etag: string; manifest: StoredManifest }>()

  constructor(objects: Pick<S3Objects, 'text' | 'url'>) {
    this.#objects = objects
  }

  /** Reads a manifest; null if there is none. Throws BuildFault if it is damaged. */
  async read(key: string): Promise<StoredManifest | null> {
    const found = await this.#objects.text(key)
    if (found === null) {
      this.#known.delete(key)
      return null
    }
    const manifest = this.#parse(key, found.text)
    this.#known.set(key, { etag: found.etag, manifest })
    return manifest
  }

  /** Reads the manifests of a listing. Leaves out those that were removed meanwhile. */
  async readAll(listed: readonly ListedObject[]): Promise<StoredManifest[]> {
    const objects = listed.filter(({ key }) => isManifestKey(key))
    const read = await inGroups(objects, async ({ key, etag }) => {
      const known = this.#known.get(key)
      return known?.etag === etag ? known.manifest : this.read(key)
    })
    return read.filter((manifest) => manifest !== null)
  }

  #parse(key: string, text: string): StoredManifest {
    try {
      return JSON.parse(text)
    } catch {
      const path = `${this.#objects.url}${key}`
      throw new BuildFault(`${path}: it is not a manifest. Remove that manifest and rebuild its file`)
    }
  }
}

/** Milliseconds for which unused data is kept, and after which an unfinished upload counts as abandoned. */
const KEPT_MS = SECONDS_PER_DAY * 1_000
const MARK = '.unused'

/** The content of a mark. The client of S3 warns about an empty text. */
const EMPTY = Buffer.alloc(0)
const DATA_PATTERN = /^(.+)\.[0-9a-f]{12}$/

/** The size of a chunk in bytes, at most. */
const MAX_CHUNK_BYTES = 131_072

/** Milliseconds without a byte after which a connection counts as broken. The pauses of the reader do not count. */
const SILENCE_MS = 30_000

/** Connections in a row that may break without a byte. */
const MAX_BARREN_CONNECTIONS = 3

/** An open place in S3. `now`: milliseconds since 1970. */
type S3Files = { objects: S3Objects; manifests: ManifestReader; now: () => number }

/** Opens the file store. Each method throws FileStoreFault if S3 does not respond in time, or rejects the request. */
export function openS3FileStore(options: S3Options, now: () => number = Date.now): FileStore {
  const objects = new S3Objects(options)
  const files: S3Files = { objects, manifests: new ManifestReader(objects), now }
  return {
    publish: (name, content, describe) => publishInS3(files, name, content, describe),
    open: (name) => openObject(files, name),
    manifest: async (name) => withoutData(await files.manifests.read(manifestKey(name))),
    list: async (kind) => (await listKind(files, kind)).map((stored) => withoutData(stored)),
    remove: (name) => removeFromS3(files, name),
    notes: {
      read: async (name) => (await objects.text(name))?.text.trim() ?? null,
      write: (name, text) => objects.put(name, `${text}\n`, 'text/plain'),
      remove: (name) => objects.delete(name),
    },
    freeBytes: async () => Number.POSITIVE_INFINITY,
  }
}

type PublishArguments = Parameters<FileStore['publish']> extends [unknown, ...infer Others] ? Others : never

async function publishInS3(files: S3Files, name: FileName, ...rest: PublishArguments): Promise<FileManifest> {
  const { objects, manifests } = files
  const [content, describe] = rest
  const { kind } = parseFileName(name)!
  await removeUnused(objects, manifests, kind, files.now())
  const data = `${name}.${randomBytes(6).toString('hex')}`
  const written = await uploadObject(objects, `${kind}/${data}`, content)
  const described = await describeOrDelete(objects, `${kind}/${data}`, () => describe(written))
  const former = await manifests.read(manifestKey(name))
  const stored = nextManifest(name, former, described, written, data)
  await objects.put(manifestKey(name), `${JSON.stringify(stored, null, 2)}\n`, 'application/json')
  if (former !== null) await markUnused(objects, kind, former.data)
  return withoutData(stored)
}

/** If the description fails, nothing refers to the data, and it is deleted. */
async function describeOrDelete<Description>(
  objects: S3Objects,
  key: string,
  describe: () => Description,
): Promise<Description> {
  try {
    return describe()
  } catch (error) {
    await objects.delete(key).catch(() => {}) // a later build removes it
    throw error
  }
}

/** Opens the data of the manifest. If it was replaced and removed meanwhile, opens that of the newer manifest. */
async function openObject({ objects, manifests }: S3Files, name: FileName): Promise<OpenedFile | null> {
  for (let missing = ''; ; ) {
    const stored = await manifests.read(manifestKey(name))
    if (stored === null) return null
    const key = `${stored.kind}/${stored.data}`
    const size = await objects.size(key)
    if (size === stored.bytes) {
      return {
        manifest: withoutData(stored),
        read: (start, end) => readObjectRange(objects, key, start, end),
        async close() {},
      }
    }
    const why = size === null ? 'is missing' : `has ${size} bytes instead of ${stored.bytes}`
    if (size !== null || missing === key) throw damagedFile(objects, name, `${stored.data} ${why}`)
    missing = key
  }
}

/** A build of the same content would not replace the damaged file, so its manifest must be removed first. */
function damagedFile({ url }: S3Objects, name: FileName, why: string): BuildFault {
  return new BuildFault(`${url}${manifestKey(name)}: ${why}. Remove that manifest and rebuild its file`)
}

async function listKind({ objects, manifests }: S3Files, kind: FileKind): Promise<StoredManifest[]> {
  const listed = await manifests.readAll(await objects.list(`${kind}/`))
  return listed.sort((a, b) => (a.date < b.date ? -1 : 1))
}

/** The data stays for a day, because downloads may still read it. */
async function removeFromS3({ objects, manifests }: S3Files, name: FileName): Promise<void> {
  const stored = await manifests.read(manifestKey(name))
  if (stored === null) return
  await objects.delete(manifestKey(name))
  await markUnused(objects, stored.kind, stored.data)
}

/** The bytes from `start` to before `end`, in chunks of at most 128 KiB. Only what the sockets hold is in memory. */
async function* readObjectRange(
  objects: Pick<S3Objects, 'range'>,
  key: string,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  let barren = 0
  for (let at = start; at < end; ) {
    const from = at
    try {
      for await (const chunk of chunksOf(await objects.range(key, at, end))) {
        const wanted = chunk.subarray(0, end - at) // a server may send more than the range
        for (let sent = 0; sent < wanted.length; sent += MAX_CHUNK_BYTES) {
          const piece = wanted.subarray(sent, sent + MAX_CHUNK_BYTES)
          at += piece.length
          yield piece
        }
        if (at === end) return
      }
      if (at < end) throw new Error(`S3 ended the response ${end - at} bytes too early`)
    } catch (error) {
      barren = at === from ? barren + 1 : 0
      if (barren >= MAX_BARREN_CONNECTIONS) throw error
    }
  }
}

async function* chunksOf(body: Awaited<ReturnType<S3Objects['range']>>): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const timer = setTimeout(() => body.destroy(new Error('S3 sends no more bytes')), SILENCE_MS)
      const next = await chunks.next().finally(() => clearTimeout(timer))
      if (next.done) return
      yield next.value
    }
  } finally {
    body.destroy()
  }
}

/** Marks data as unused from now on. */
async function markUnused(objects: Pick<S3Objects, 'put'>, kind: FileKind, data: string): Promise<void> {
  await objects.put(`${kind}/${data}${MARK}`, EMPTY, 'text/plain')
}

/** Removes what has been unused for a day, and marks what is unused and has no mark. `now`: milliseconds since 1970. */
async function removeUnused(
  objects: S3Objects,
  manifests: Pick<ManifestReader, 'readAll'>,
  kind: FileKind,
  now: number,
): Promise<void> {
  await abortAbandonedUploads(objects, kind, now)
  const listed = await objects.list(`${kind}/`) // before the manifests, so that it has no data that only older ones name
  const used = new Set((await manifests.readAll(listed)).map(({ data }) => `${kind}/${data}`))
  const keys = new Set(listed.map(({ key }) => key))
  const marks = new Map(
    listed.filter(({ key }) => key.endsWith(MARK)).map(({ key, changed }) => [key.slice(0, -MARK.length), changed]),
  )
  await inGroups(listed, async ({ key }) => {
    if (!isDataKey(key, kind)) return
    const since = marks.get(key)
    if (used.has(key)) {
      if (since !== undefined) await objects.delete(key + MARK)
    } else if (since === undefined) await objects.put(key + MARK, EMPTY, 'text/plain')
    else if (now - since >= KEPT_MS) {
      await objects.delete(key)
      await objects.delete(key + MARK)
    }
  })
  const orphans = [...marks.keys()].filter((key) => isDataKey(key, kind) && !keys.has(key))
  await inGroups(orphans, (key) => objects.delete(key + MARK))
}

/** Whether a key is that of data: `daily/2026-11-19.txt.gz.0123456789ab`. */
function isDataKey(key: string, kind: FileKind): boolean {
  const [, name = ''] = DATA_PATTERN.exec(key.slice(kind.length + 1)) ?? []
  return parseFileName(name)?.kind === kind
}

/** Aborts the uploads of killed builds. Some servers cannot list uploads, and some operators do not allow it. */
async function abortAbandonedUploads(objects: S3Objects, kind: FileKind, now: number): Promise<void> {
  const uploads = await objects.uploads(`${kind}/`).catch(() => [])
  const abandoned = uploads.filter(({ key, started }) => isDataKey(key, kind) && now - started >= KEPT_MS)
  await inGroups(abandoned, ({ key, id }) => objects.abortUpload(key, id).catch(() => {}))
}

/** Whether a key is that of a manifest: `daily/2026-11-19.txt.gz.json`. */
function isManifestKey(key: string): boolean {
  const [, folder, text = ''] = /^([^/]+)\/(.+)\.json$/.exec(key) ?? []
  return parseFileName(text)?.kind === folder && folder !== undefined
}

/** Applies a function to each item, GROUP_SIZE at a time, and returns the results in order. */
async function inGroups<Item, Result>(
  items: readonly Item[],
  apply: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += GROUP_SIZE)
    results.push(...(await Promise.all(items.slice(at, at + GROUP_SIZE).map(apply))))
  return results
}
