/** Restores a store from a backup. */

import { chmodSync, constants, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { OnProgress } from '../../port/engine.ts'
import { StoreFault } from '../../port/fault.ts'
import { connectSqlite } from '../database/connection.ts'
import { createFolder, OWNER_ONLY_MODE } from '../database/folder.ts'
import { pendingSqliteMigrations, SQLITE_FACTS_SCHEMA } from '../database/migrate.ts'
import { SQLITE_LEDGER_SCHEMA } from '../ledger/file.ts'
import type { StoreFiles } from '../locations.ts'
import { BACKUP_FILES, type BackupFile, fileDigest, readBackupManifest, syncToDisk } from './manifest.ts'

/**
 * Restores the backup in `from`. Throws StoreFault if a store exists already, if a file does not match the manifest, or
 * if the backup is of a newer release.
 */
export async function restoreSqlite(from: string, files: StoreFiles, onProgress: OnProgress): Promise<void> {
  const { files: copied } = readBackupManifest(from)
  const targets = [files.facts, files.ledger]
  const existing = targets.flatMap((target) => [target, `${target}-wal`]).find((path) => existsSync(path))
  if (existing !== undefined) throw new StoreFault(`${existing} exists already: set DOMAINDEX_STORE to another store`)
  for (const name of BACKUP_FILES) await verifyBackupFile(join(from, name), copied.find((file) => file.name === name)!)
  onProgress(0.5)
  for (const target of targets) createFolder(dirname(target))
  const unfinished = targets.map((target) => `${target}.restoring`)
  try {
    for (const [index, name] of BACKUP_FILES.entries()) {
      await copyFile(join(from, name), unfinished[index]!, constants.COPYFILE_FICLONE)
      chmodSync(unfinished[index]!, OWNER_ONLY_MODE) // a copy has the permissions of its source
      prepareRestoredFile(unfinished[index]!, [SQLITE_FACTS_SCHEMA, SQLITE_LEDGER_SCHEMA][index]!)
      onProgress(0.5 + (index + 1) / BACKUP_FILES.length / 2)
    }
    // Rename the facts last: the store exists once they do.
    for (const index of [1, 0]) renameSync(unfinished[index]!, targets[index]!)
    for (const target of targets) syncToDisk(dirname(target))
  } catch (error) {
    for (const file of unfinished) rmSync(file, { force: true })
    throw error
  }
}

async function verifyBackupFile(path: string, { bytes, sha256 }: BackupFile): Promise<void> {
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined) throw new StoreFault(`${path} is missing: create another backup`)
  if (size === bytes && (await fileDigest(path)) === sha256) return
  throw new StoreFault(`${path} does not match its manifest: create another backup`)
}

/** Prepares a restored file for use, durably. Throws StoreFault if it is of a newer release. */
function prepareRestoredFile(path: string, schema: URL): void {
  const database = connectSqlite(path, { durable: true })
  try {
    pendingSqliteMigrations(database, schema)
    database.exec('pragma journal_mode = wal')
  } finally {
    database.close()
  }
  syncToDisk(path)
}
