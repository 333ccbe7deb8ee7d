/** Small files at the root of a place for files. They tell to which installation the place belongs. */

import { readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureFolder, lineContent, nullIfMissing, syncFolder, writeDurably } from './durable.ts'
import { endWriter, newWriterName } from './leftovers.ts'

/** The name of the mark in a folder, or its key in S3. */
export const MARK_NAME = 'installation'

/** The name of the file that describes the installation of the mark, for messages. Earlier releases wrote none. */
export const DESCRIPTION_NAME = `${MARK_NAME}.description`

/** The name of the file of a claim that is not complete: a mark that the store may know, and the place does not. */
export const claimName = (mark: string): string => `${MARK_NAME}.${mark}`

/** The small files at the root of a place, in a folder or in S3. Texts have no line feed at their end. */
export type PlaceNotes = {
  /** Returns null if there is no such file. */
  read(name: string): Promise<string | null>
  /** Replaces the file atomically and durably. */
  write(name: string, text: string): Promise<void>
  /** Does nothing if there is no such file. */
  remove(name: string): Promise<void>
}

/** Those of a folder, which the first write creates. */
export function folderNotes(folder: string): PlaceNotes {
  return {
    async read(name) {
      const text = await readFile(join(folder, name), 'utf8').catch(nullIfMissing)
      return text === null ? null : text.trim()
    },
    write: (name, text) => writeNote(folder, name, text),
    remove: (name) => rm(join(folder, name), { force: true }),
  }
}

async function writeNote(folder: string, name: string, text: string): Promise<void> {
  const temporary = newWriterName(name)
  await ensureFolder(folder)
  try {
    await writeDurably(join(folder, temporary), lineContent(text))
    await rename(join(folder, temporary), join(folder, name))
    await syncFolder(folder)
  } finally {
    endWriter(temporary)
  }
}
