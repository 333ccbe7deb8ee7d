/** The mark of a folder: a small file that tells to which installation the folder belongs. */

import { mkdir, readFile, rename } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { lineContent, nullIfMissing, syncFolder, writeDurably } from './durable.ts'
import { endWriter, newWriterName } from './leftovers.ts'

/** The name of the mark in a folder, or its key in S3. */
export const MARK_NAME = 'installation'

/** Returns null if the folder has no mark, or does not exist. */
export async function readFolderMark(folder: string): Promise<string | null> {
  const text = await readFile(join(folder, MARK_NAME), 'utf8').catch(nullIfMissing)
  return text === null ? null : text.trim()
}

/** Creates the folder if it does not exist. */
export async function writeFolderMark(folder: string, mark: string): Promise<void> {
  const temporary = newWriterName(MARK_NAME)
  await mkdir(resolve(folder), { recursive: true }) // Node tries a relative path for ever if the working directory is gone
  try {
    await writeDurably(join(folder, temporary), lineContent(mark))
    await rename(join(folder, temporary), join(folder, MARK_NAME))
    await syncFolder(folder)
  } finally {
    endWriter(temporary)
  }
}
