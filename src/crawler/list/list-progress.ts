/**
 * The progress of a crawl in its list. A small file next to the list stores it until the crawl completes, so that the
 * crawl can resume.
 */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { CommandFault } from '../../config/command-fault.ts'
import { errorCause } from '../../import/stream/input-error.ts'
import type { ListEntry, NameEntry, NameList } from './name-list.ts'

/**
 * The content of the file. Every line up to `line` was started, and all of them except `open` are done. `digest`: of
 * the list up to `line`. `pid`: the process of the crawl, null after it ended.
 */
type SavedProgress = { line: number; digest: number; open: number[]; destination: string; pid: number | null }

/** `startEntry` and `finishEntry` record each name. `save` writes the file at most once a second. */
export type ListProgress = {
  startEntry(entry: ListEntry): void
  finishEntry(entry: NameEntry): void
  save(): void
  /** Removes the file if the list is done without open names, or if nothing started. Otherwise writes it. */
  finish(done: boolean): void
  /** The unfinished entries of the list. */
  remainingEntries(): AsyncIterable<ListEntry>
  /** The line after which the crawl resumes. 0 for a new list. */
  readonly resumeAfterLine: number
}

const MIN_SAVE_INTERVAL_MS = 1000

/** Opens the progress of a list. Throws CommandFault if another crawl of the list is unfinished, with advice. */
export function openListProgress(list: NameList, destination: string): ListProgress {
  if (list.path === null || list.path === '-' || !list.stats?.isFile()) return untrackedProgress(list)
  const file = `${list.path}.progress`
  const saved = readSavedProgress(file)
  if (saved !== null && saved.destination !== destination) {
    throw new CommandFault(
      `a crawl of ${list.path} into ${saved.destination} is not finished: finish it, or remove ${file} to start over`,
    )
  }
  if (saved !== null && isInProgress(saved)) {
    throw new CommandFault(
      `process ${saved.pid} is crawling ${list.path}: wait until it ends, or remove ${file} if that process is not a crawl`,
    )
  }
  const state = { line: saved?.line ?? 0, digest: saved?.digest ?? 0, open: new Set(saved?.open), savedAt: 0 }
  const saveProgress = (pid: number | null): void =>
    writeSavedProgress(file, { line: state.line, digest: state.digest, open: [...state.open], destination, pid })
  saveProgress(process.pid)
  return {
    resumeAfterLine: state.line,
    startEntry({ line, digest, name }) {
      if (line > state.line) Object.assign(state, { line, digest })
      if (name !== null) state.open.add(line)
    },
    finishEntry: ({ line }) => void state.open.delete(line),
    save() {
      if (performance.now() - state.savedAt < MIN_SAVE_INTERVAL_MS) return
      saveProgress(process.pid)
      state.savedAt = performance.now()
    },
    finish: (done) =>
      state.line === 0 || (done && state.open.size === 0) ? rmSync(file, { force: true }) : saveProgress(null),
    remainingEntries: () => (saved === null ? list.entries : remainingEntriesOf(list, saved, file)),
  }
}

/** Arguments, standard input and pipes cannot be resumed. */
const untrackedProgress = (list: NameList): ListProgress => ({
  resumeAfterLine: 0,
  startEntry() {},
  finishEntry() {},
  save() {},
  finish() {},
  remainingEntries: () => list.entries,
})

/** Returns null if there is no file. Throws CommandFault if it is invalid. */
function readSavedProgress(file: string): SavedProgress | null {
  try {
    const { line, digest, open, destination, pid } = JSON.parse(readFileSync(file, 'utf8')) as SavedProgress
    const isValid = [line, digest, pid ?? 0, ...open].every(Number.isInteger) && typeof destination === 'string'
    if (isValid) return { line, digest, open, destination, pid }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  }
  throw new CommandFault(`${file} cannot be read: remove it to crawl the list from the start`)
}

/**
 * If the PID is this process's own, the previous process has ended. A container may assign the same PID at every start.
 */
function isInProgress({ pid }: SavedProgress): boolean {
  if (pid === null || pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Writes a new file and renames it, so that a partial file never appears. */
function writeSavedProgress(file: string, saved: SavedProgress): void {
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify(saved)}\n`)
    renameSync(`${file}.new`, file)
  } catch (error) {
    throw new CommandFault(`${file}, the progress of the crawl, cannot be written: ${errorCause(error)}`)
  }
}

/** Yields nothing if the list has changed up to the saved line, and throws CommandFault. */
async function* remainingEntriesOf(
  list: NameList,
  { line, digest, open }: SavedProgress,
  file: string,
): AsyncGenerator<ListEntry> {
  const started = new Set(open)
  const retried: ListEntry[] = []
  let isChanged = line > 0
  for await (const entry of list.entries) {
    if (entry.line > line && isChanged) break
    if (entry.line === line) isChanged = entry.digest !== digest
    if (entry.line > line) yield entry
    else if (started.has(entry.line)) retried.push(entry)
    if (entry.line === line && !isChanged) yield* retried
  }
  if (isChanged) {
    throw new CommandFault(
      `${list.path} has changed before line ${line}, where its crawl stopped: remove ${file} to crawl it from the start`,
    )
  }
}
