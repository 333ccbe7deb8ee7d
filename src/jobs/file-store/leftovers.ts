/**
 * Removes the files that killed builds left in a folder. File names contain their writer, which shows if it is dead.
 */

import { randomBytes } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { SECONDS_PER_DAY } from '../../values/time.ts'

/** Milliseconds without a change after which a writer on another host counts as dead. */
const ABANDONED_AFTER_MS = SECONDS_PER_DAY * 1000

const HOST_LABEL = hostname()
  .toLowerCase()
  .replace(/[^a-z0-9-]+/g, '-')
const WRITER_NAME_PATTERN = /\.([a-z0-9-]*)\.(\d+)\.([0-9a-f]{12})(\.json)?$/

/** The active writers of this process. */
const activeWriters = new Set<string>()

/**
 * Returns a new file name that begins with `name` and contains the writer. No process removes it before `endWriter`.
 */
export function newWriterName(name: string): string {
  const random = randomBytes(6).toString('hex')
  activeWriters.add(random)
  return `${name}.${HOST_LABEL}.${process.pid}.${random}`
}

export function endWriter(name: string): void {
  activeWriters.delete(name.slice(-12))
}

/** Removes the files of dead writers except published ones. Calls `published` only if there are dead writers. */
export async function removeLeftovers(folder: string, published: () => Promise<readonly string[]>): Promise<void> {
  const dead: string[] = []
  for (const entry of await readdir(folder)) if (await isLeftover(folder, entry)) dead.push(entry)
  const publishedEntries = dead.length === 0 ? [] : await published()
  for (const entry of dead) if (!publishedEntries.includes(entry)) await rm(join(folder, entry), { force: true })
}

/** Whether the writer of the file is dead. */
export async function isLeftover(folder: string, entry: string): Promise<boolean> {
  const [, host = '', pid = '', random = ''] = WRITER_NAME_PATTERN.exec(entry) ?? []
  if (random === '') return false
  return host === HOST_LABEL ? !isWriting(Number(pid), random) : isUnchangedForLong(join(folder, entry))
}

/** A writer with the id of this process, but not active in it, was an earlier process. */
function isWriting(pid: number, random: string): boolean {
  if (pid === process.pid) return activeWriters.has(random)
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

async function isUnchangedForLong(path: string): Promise<boolean> {
  const changed = await stat(path).catch(() => null)
  return changed !== null && Date.now() - changed.mtimeMs > ABANDONED_AFTER_MS
}
