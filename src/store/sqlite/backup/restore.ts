/** A store made out of a backup. */

import { chmodSync, constants, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StoreFault } from '../../port/fault.ts'
import { connectSqlite } from '../database/connection.ts'
import type { StoreFiles } from '../database/file-paths.ts'
import { createFolder, OWNER_ONLY_MODE } from '../database/folder.ts'
import { pendingSqliteMigrations, SQLITE_FACTS_SCHEMA } from '../database/migrate.ts'
import { SQLITE_LEDGER_SCHEMA } from '../ledger/file.ts'
import type { OnProgress } from './backup.ts'
import { BACKUP_FILES, type BackupFile, fileDigest, readBackupManifest, syncToDisk } from './manifest.ts'

/**
 * Makes a store out of the backup in `from`. Refuses where a store is, where a file of the backup is not what its
 * manifest says, and where the backup is of a newer release. Throws StoreFault.
 */
export async function restoreSqlite(from: string, files: StoreFiles, onProgress: OnProgress): Promise<void> {
  const { files: copied } = readBackupManifest(from)
  const targets = [files.facts, files.ledger]
  const there = targets.flatMap((target) => [target, `${target}-wal`]).find((each) => existsSync(each))
  if (there !== undefined) throw new StoreFault(`${there} is there already: name another store with DOMAINDEX_STORE`)
  for (const name of BACKUP_FILES) await verifyBackupFile(join(from, name), copied.find((file) => file.name === name)!)
  onProgress(0.5)
  for (const target of targets) createFolder(dirname(target))
  const unfinished = targets.map((target) => `${target}.restoring`)
  try {
    for (const [index, name] of BACKUP_FILES.entries()) {
      await copyFile(join(from, name), unfinished[index]!, constants.COPYFILE_FICLONE)
      chmodSync(unfinished[index]!, OWNER_ONLY_MODE) // a copy has the permissions of what it was copied from
      prepareRestoredFile(unfinished[index]!, [SQLITE_FACTS_SCHEMA, SQLITE_LEDGER_SCHEMA][index]!)
      onProgress(0.5 + (index + 1) / BACKUP_FILES.length / 2)
    }
    // The facts come last: a store is where they are.
    for (const index of [1, 0]) renameSync(unfinished[index]!, targets[index]!)
    for (const target of targets) syncToDisk(dirname(target))
  } catch (error) {
    for (const file of unfinished) rmSync(file, { force: true })
    throw error
  }
}

async function verifyBackupFile(path: string, { bytes, sha256 }: BackupFile): Promise<void> {
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined) throw new StoreFault(`${path} is missing: take another backup`)
  if (size === bytes && (await fileDigest(path)) === sha256) return
  throw new StoreFault(`${path} is not what its manifest says: take another backup`)
}

/** Makes a restored file fit for use, durably; one of a newer release is refused. */
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
