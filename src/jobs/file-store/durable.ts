/** Files that are still there after a loss of power: written, and handed to the disk. */

import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'

/** Bytes after which what was written goes to the disk, so that the end brings no flood of them. */
const SYNC_BYTES = 2 ** 25

/** What was written: its size, and its SHA-256 in hexadecimal. */
export type WrittenFile = { bytes: number; sha256: string }

/** Writes a new file and makes it durable; it must not be there yet. */
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

async function writeFully(handle: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await handle.write(piece, at)).bytesWritten
}

/** Makes durable which names a folder has. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Null for what is not there. */
export function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
