/** The copying half of a backup, a thread of its own: SQLite copies in one long call. */

import { statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { StoreFault } from '../fault.ts'
import { connect } from './connection.ts'
import { makeFile } from './folder.ts'
import { type BackupFile, digestOf, sync } from './manifest.ts'

/** One file: what it is called in the backup, whence and where to. */
export type CopyTask = { name: string; from: string; to: string }

const files: BackupFile[] = []
for (const task of workerData as CopyTask[]) files.push(await copy(task))
parentPort?.postMessage(files)

async function copy({ name, from, to }: CopyTask): Promise<BackupFile> {
  const database = connect(from, { readOnly: true })
  makeFile(to)
  database.prepare('vacuum into ?').run(to)
  database.close()
  const written = connect(to)
  const [first] = written.prepare('pragma quick_check(1)').all()
  written.close()
  if (first?.quick_check !== 'ok') throw new StoreFault(`the copy of ${from} is damaged: run domaindex check`)
  sync(to)
  return { name, bytes: statSync(to).size, sha256: await digestOf(to) }
}
