/** The manifest of a backup: its files, with sizes and digests to verify them. */

import { createHash } from 'node:crypto'
import { closeSync, createReadStream, fsyncSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { StoreFault } from '../../port/fault.ts'

export const BACKUP_MANIFEST_FILE = 'manifest.json'
/** The names of the files in the folder of a backup. */
export const BACKUP_FILES = ['facts.db', 'ledger.db'] as const

export type BackupFile = { name: string; bytes: number; sha256: string }
/** `made`: when the copy started, UTC. */
export type BackupManifest = { format: 1; made: string; files: BackupFile[] }

/** The manifest in a folder. Throws StoreFault if this release cannot read one there. */
export function readBackupManifest(folder: string): BackupManifest {
  const manifest = parseBackupManifest(folder)
  if (manifest.format !== 1) throw new StoreFault(`${folder} is a backup of a newer release: run a newer domaindex`)
  const missing = BACKUP_FILES.find((name) => !manifest.files?.some((file) => file.name === name))
  if (missing !== undefined)
    throw new StoreFault(`the manifest of ${folder} does not list ${missing}: create another backup`)
  return manifest
}

function parseBackupManifest(folder: string): BackupManifest {
  try {
    return JSON.parse(readFileSync(join(folder, BACKUP_MANIFEST_FILE), 'utf8'))
  } catch (error) {
    throw new StoreFault(
      `${folder} is not a backup: its ${BACKUP_MANIFEST_FILE} cannot be read (${(error as Error).message})`,
    )
  }
}

/** SHA-256 of a file, hexadecimal. */
export async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1_048_576 }), hash)
  return hash.digest('hex')
}

/** Waits until a file, or the names in a folder, are on disk. */
export function syncToDisk(path: string): void {
  const fd = openSync(path, 'r')
  fsyncSync(fd)
  closeSync(fd)
}
