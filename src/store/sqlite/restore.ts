/** A store made out of a backup. */

import { chmodSync, constants, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StoreFault } from '../fault.ts'
import type { OnProgress } from './backup.ts'
import { connect } from './connection.ts'
import type { StoreFiles } from './files.ts'
import { makeFolder, OWNER_ONLY } from './folder.ts'
import { LEDGER_SCHEMA } from './ledger/file.ts'
import { type BackupFile, digestOf, FILES, readManifest, sync } from './manifest.ts'
import { FACTS_SCHEMA, pending } from './migrate.ts'

/**
 * Makes a store out of the backup in `from`. Refuses where a store is, where a file of the backup is not what its
 * manifest says, and where the backup is of a newer release. Throws StoreFault.
 */
export async function restoreSqlite(from: string, files: StoreFiles, onProgress: OnProgress): Promise<void> {
  const { files: copied } = readManifest(from)
  const targets = [files.facts, files.ledger]
  const there = targets.flatMap((target) => [target, `${target}-wal`]).find((each) => existsSync(each))
  if (there !== undefined) throw new StoreFault(`${there} is there already: name another store with DOMAINDEX_STORE`)
  for (const name of FILES) await verify(join(from, name), copied.find((file) => file.name === name)!)
  onProgress(0.5)
  for (const target of targets) makeFolder(dirname(target))
  const unfinished = targets.map((target) => `${target}.restoring`)
  try {
    for (const [index, name] of FILES.entries()) {
      await copyFile(join(from, name), unfinished[index]!, constants.COPYFILE_FICLONE)
      chmodSync(unfinished[index]!, OWNER_ONLY) // a copy has the permissions of what it was copied from
      makeReady(unfinished[index]!, [FACTS_SCHEMA, LEDGER_SCHEMA][index]!)
      onProgress(0.5 + (index + 1) / FILES.length / 2)
    }
    // The facts come last: a store is where they are.
    for (const index of [1, 0]) renameSync(unfinished[index]!, targets[index]!)
    for (const target of targets) sync(dirname(target))
  } catch (error) {
    for (const file of unfinished) rmSync(file, { force: true })
    throw error
  }
}

async function verify(path: string, { bytes, sha256 }: BackupFile): Promise<void> {
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined) throw new StoreFault(`${path} is missing: take another backup`)
  if (size === bytes && (await digestOf(path)) === sha256) return
  throw new StoreFault(`${path} is not what its manifest says: take another backup`)
}

/** Makes a restored file fit for use, durably; one of a newer release is refused. */
function makeReady(path: string, schema: URL): void {
  const database = connect(path, { durable: true })
  try {
    pending(database, schema)
    database.exec('pragma journal_mode = wal')
  } finally {
    database.close()
  }
  sync(path)
}
