/**
 * The file store in S3, with a folder for each kind. A manifest names its data object, whose key is used once. Writing
 * the manifest publishes both, so that no reader sees one without the other.
 */

import { randomBytes } from 'node:crypto'
import { BuildFault } from '../build-fault.ts'
import {
  type FileKind,
  type FileManifest,
  type FileName,
  type FileStore,
  type OpenedFile,
  parseFileName,
} from '../file-store.ts'
import { readObjectRange } from './download.ts'
import { markUnused, removeUnused } from './leftovers.ts'
import { ManifestReader, manifestKey, type StoredManifest } from './manifests.ts'
import { S3Objects, type S3Options } from './objects.ts'
import { uploadObject } from './upload.ts'

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
  const { kind, date } = parseFileName(name)!
  await removeUnused(objects, manifests, kind, files.now())
  const data = `${name}.${randomBytes(6).toString('hex')}`
  const written = await uploadObject(objects, `${kind}/${data}`, content)
  const described = await describeOrDelete(objects, `${kind}/${data}`, () => describe(written))
  const former = await manifests.read(manifestKey(name))
  const revision = (former?.revision ?? 0) + 1
  const generated = Math.max(described.generated, (former?.generated ?? -1) + 1)
  const stored: StoredManifest = { name, kind, date, ...described, revision, generated, ...written, data }
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

function withoutData(stored: StoredManifest): FileManifest
function withoutData(stored: StoredManifest | null): FileManifest | null
function withoutData(stored: StoredManifest | null): FileManifest | null {
  if (stored === null) return null
  const { data: _, ...manifest } = stored
  return manifest
}
