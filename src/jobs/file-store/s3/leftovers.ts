/**
 * Removes data objects that no manifest names: of replaced and removed files, and of killed builds. They stay for a day,
 * because downloads may still read them. An empty object next to the data, the mark, has the time since which it is
 * unused, by the clock of S3.
 */

import { SECONDS_PER_DAY } from '../../../values/time.ts'
import { type FileKind, parseFileName } from '../file-store.ts'
import { inGroups } from './groups.ts'
import type { ManifestReader } from './manifests.ts'
import type { S3Objects } from './objects.ts'

/** Milliseconds for which unused data is kept, and after which an unfinished upload counts as abandoned. */
const KEPT_MS = SECONDS_PER_DAY * 1_000
const MARK = '.unused'
/** The content of a mark. The client of S3 warns about an empty text. */
const EMPTY = Buffer.alloc(0)
const DATA_PATTERN = /^(.+)\.[0-9a-f]{12}$/

/** Marks data as unused from now on. */
export async function markUnused(objects: Pick<S3Objects, 'put'>, kind: FileKind, data: string): Promise<void> {
  await objects.put(`${kind}/${data}${MARK}`, EMPTY, 'text/plain')
}

/** Removes what has been unused for a day, and marks what is unused and has no mark. `now`: milliseconds since 1970. */
export async function removeUnused(
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
