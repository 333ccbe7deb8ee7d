/** The manifest of a backup: which files it has, and what says that they came whole. */

import { createHash } from 'node:crypto'
import { closeSync, createReadStream, fsyncSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { StoreFault } from '../fault.ts'

export const MANIFEST = 'manifest.json'
/** The files of a backup, as they are called in its folder. */
export const FILES = ['facts.db', 'ledger.db'] as const

export type BackupFile = { name: string; bytes: number; sha256: string }
/** `made`: when the copy was begun, UTC. */
export type Manifest = { format: 1; made: string; files: BackupFile[] }

/** The manifest in a folder. Throws StoreFault where there is none that this release can read. */
export function readManifest(folder: string): Manifest {
  const manifest = parse(folder)
  if (manifest.format !== 1) throw new StoreFault(`${folder} is a backup of a newer release: run a newer domaindex`)
  const missing = FILES.find((name) => !manifest.files?.some((file) => file.name === name))
  if (missing !== undefined)
    throw new StoreFault(`the manifest of ${folder} does not name ${missing}: take another backup`)
  return manifest
}

function parse(folder: string): Manifest {
  try {
    return JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8'))
  } catch (error) {
    throw new StoreFault(`${folder} is no backup: its ${MANIFEST} cannot be read (${(error as Error).message})`)
  }
}

/** SHA-256 of a file, hexadecimal. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1_048_576 }), hash)
  return hash.digest('hex')
}

/** Waits until a file, or the names in a folder, are on disk. */
export function sync(path: string): void {
  const fd = openSync(path, 'r')
  fsyncSync(fd)
  closeSync(fd)
}
