/** Writes files that survive a power failure. */

import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { resolve } from 'node:path'

/** Bytes between two syncs, so that the last sync does not have to write everything. */
const SYNC_BYTES = 2 ** 25

/** A written file: its size, and its SHA-256 in hexadecimal. */
export type WrittenFile = { bytes: number; sha256: string }

/**
 * Creates a folder and those above it, unless they exist. Throws if the working directory is gone: given a relative
 * path, Node would try for ever.
 */
export async function ensureFolder(path: string): Promise<void> {
  await mkdir(resolve(path), { recursive: true })
}

/** Writes a new file and syncs it. Throws if the file exists. */
export async function writeDurably(path: string, content: AsyncIterable<Uint8Array>): Promise<WrittenFile> {
  const digest = createHash('sha256')
  let bytes = 0
  const handle = await open(path, 'wx')
  try {
    let synced = 0
    for await (const piece of content) {
      digest.update(piece)
      await writeFully(handle, piece)
      bytes += piece.length
      if (bytes - synced < SYNC_BYTES) continue
      await handle.datasync()
      synced = bytes
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  return { bytes, sha256: digest.digest('hex') }
}

/** A text and a line break, as the content of a file. */
export async function* lineContent(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${text}\n`)
}

async function writeFully(handle: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await handle.write(piece, at)).bytesWritten
}

/** Syncs the entries of a folder. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Returns null if the file does not exist; rethrows any other error. */
export function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
