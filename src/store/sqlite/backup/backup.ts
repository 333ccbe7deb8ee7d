/** The backup of a store that is in use. */

import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import { StoreFault } from '../../port/fault.ts'
import type { StoreFiles } from '../database/file-paths.ts'
import { createFolder, OWNER_ONLY_MODE } from '../database/folder.ts'
import type { CopyTask } from './backup-thread.ts'
import { BACKUP_FILES, BACKUP_MANIFEST_FILE, type BackupFile, type BackupManifest, syncToDisk } from './manifest.ts'

/** Is told what share of the work is done, 0 to 1. */
export type OnProgress = (share: number) => void

const PROGRESS_MILLISECONDS = 200

/**
 * Copies the store to the folder `to`, which must not be there: each file as of one moment, beside whoever reads and writes.
 * The folder appears when all of it is written, verified and on disk. `signal` gives it up and leaves nothing behind.
 * Throws StoreFault.
 */
export async function backupSqlite(
  { facts, ledger }: StoreFiles,
  to: string,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<void> {
  const sources = [facts, ledger]
  if (!existsSync(facts)) throw new StoreFault(`there is no store at ${facts}`)
  if (!existsSync(ledger))
    throw new StoreFault(`the ledger ${ledger} is not there: mount its disk, or say with DOMAINDEX_LEDGER where it is`)
  if (existsSync(to)) throw new StoreFault(`${to} is there already: name a new folder`)
  const made = new Date().toISOString()
  const unfinished = join(dirname(resolve(to)), `.${basename(to)}.${process.pid}`)
  createFolder(unfinished)
  try {
    const copies = BACKUP_FILES.map((name, index) => ({ name, from: sources[index]!, to: join(unfinished, name) }))
    const files = await copyInThread(copies, onProgress, signal)
    const manifest: BackupManifest = { format: 1, made, files }
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

/** Copies in a thread; the share is that of the bytes that came into being. */
async function copyInThread(copies: CopyTask[], onProgress: OnProgress, signal: AbortSignal): Promise<BackupFile[]> {
  const expected = copies.reduce((sum, { from }) => sum + statSync(from).size, 0)
  const thread = new Worker(new URL('./backup-thread.ts', import.meta.url), { workerData: copies })
  const timer = setInterval(() => {
    const written = copies.reduce((sum, { to }) => sum + (statSync(to, { throwIfNoEntry: false })?.size ?? 0), 0)
    onProgress(Math.min(written / expected, 0.99))
  }, PROGRESS_MILLISECONDS)
  try {
    return await new Promise((done, fail) => {
      thread.once('message', done).once('error', fail)
      signal.addEventListener('abort', () => fail(new StoreFault('the backup was stopped; nothing of it is left')))
    })
  } finally {
    clearInterval(timer)
    thread.unref()
  }
}
