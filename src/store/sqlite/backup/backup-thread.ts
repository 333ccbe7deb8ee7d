/** The thread that copies the files of a backup: SQLite copies in one long call. */

import { statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { StoreFault } from '../../port/fault.ts'
import { connectSqlite } from '../database/connection.ts'
import { createEmptyFile } from '../database/folder.ts'
import { type BackupFile, fileDigest, syncToDisk } from './manifest.ts'

/** One file: its name in the backup, its source and its target. */
export type CopyTask = { name: string; from: string; to: string }

const copiedFiles: BackupFile[] = []
for (const task of workerData as CopyTask[]) copiedFiles.push(await copyDatabase(task))
parentPort?.postMessage(copiedFiles)

async function copyDatabase({ name, from, to }: CopyTask): Promise<BackupFile> {
  const database = connectSqlite(from, { readOnly: true })
  createEmptyFile(to)
  database.prepare('vacuum into ?').run(to)
  database.close()
  const written = connectSqlite(to)
  const [first] = written.prepare('pragma quick_check(1)').all()
  written.close()
  if (first?.quick_check !== 'ok') throw new StoreFault(`the copy of ${from} is damaged: run domaindex check`)
  syncToDisk(to)
  return { name, bytes: statSync(to).size, sha256: await fileDigest(to) }
}
