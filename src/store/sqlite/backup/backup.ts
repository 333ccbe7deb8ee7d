/** Backs up a store that is in use. */

import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { OnProgress } from '../../port/engine.ts'
import { StoreFault } from '../../port/fault.ts'
import { pathExists } from '../../shared/access.ts'
import { connectSqlite } from '../database/connection.ts'
import { createFolder, OWNER_ONLY_MODE } from '../database/folder.ts'
import { pendingSqliteMigrations, SQLITE_FACTS_SCHEMA } from '../database/migrate.ts'
import { SQLITE_LEDGER_SCHEMA } from '../ledger/file.ts'
import type { StoreFiles } from '../locations.ts'
import type { CopyTask } from './backup-thread.ts'
import { BACKUP_FILES, BACKUP_MANIFEST_FILE, type BackupFile, type BackupManifest, syncToDisk } from './manifest.ts'

const PROGRESS_MILLISECONDS = 200

/**
 * Copies the store to the folder `to`, which must not exist. Each file is a snapshot; other processes may read and
 * write meanwhile. The folder appears when all files are written, verified and on disk. Aborting `signal` stops it and
 * leaves nothing behind. Throws StoreFault.
 */
export async function backupSqlite(
  { facts, ledger }: StoreFiles,
  to: string,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<void> {
  const sources = [facts, ledger]
  if (!pathExists(facts)) throw new StoreFault(`there is no store at ${facts}`)
  if (!pathExists(ledger))
    throw new StoreFault(`the ledger ${ledger} does not exist: mount its disk, or set DOMAINDEX_LEDGER to its path`)
  if (existsSync(to)) throw new StoreFault(`${to} exists already: choose a new folder`)
  requireRestorable(facts, SQLITE_FACTS_SCHEMA)
  requireRestorable(ledger, SQLITE_LEDGER_SCHEMA)
  const startedAt = new Date().toISOString()
  const unfinished = join(dirname(resolve(to)), `.${basename(to)}.${process.pid}`)
  createFolder(unfinished)
  try {
    const copies = BACKUP_FILES.map((name, index) => ({ name, from: sources[index]!, to: join(unfinished, name) }))
    const files = await copyInThread(copies, onProgress, signal)
    const manifest: BackupManifest = { format: 1, made: startedAt, files }
    writeFileSync(join(unfinished, BACKUP_MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`, {
      flush: true,
      mode: OWNER_ONLY_MODE,
    })
    syncToDisk(unfinished)
    renameSync(unfinished, to)
    syncToDisk(dirname(resolve(to)))
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    throw error
  }
}

/** Throws StoreFault if this release would reject a copy of the file. */
function requireRestorable(path: string, schema: URL): void {
  const database = connectSqlite(path, { readOnly: true })
  try {
    pendingSqliteMigrations(database, schema)
  } finally {
    database.close()
  }
}

/** Copies in a thread. The progress is the share of written bytes. */
async function copyInThread(copies: CopyTask[], onProgress: OnProgress, signal: AbortSignal): Promise<BackupFile[]> {
  const expected = copies.reduce((sum, { from }) => sum + statSync(from).size, 0)
  const thread = new Worker(new URL('./backup-thread.ts', import.meta.url), { workerData: copies })
  const timer = setInterval(() => {
    const written = copies.reduce((sum, { to }) => sum + (statSync(to, { throwIfNoEntry: false })?.size ?? 0), 0)
    onProgress(Math.min(written / expected, 0.99))
  }, PROGRESS_MILLISECONDS)
  try {
    return await new Promise((resolve, reject) => {
      thread.once('message', resolve).once('error', reject)
      signal.addEventListener('abort', () => reject(new StoreFault('the backup was stopped and removed')))
    })
  } finally {
    clearInterval(timer)
    thread.unref()
  }
}
