/** The place of a crawl in its list, kept in a small file beside it while it is not done, so that it can go on. */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { CommandFault } from '../../config/command-fault.ts'
import { errorCause } from '../../import/stream/input-error.ts'
import type { ListEntry, NameEntry, NameList } from './name-list.ts'

/**
 * What the file holds. Every line up to `line` was begun, and all but those of `open` are done. `digest`: of the list up to
 * `line`. `to`: where the observations go. `pid`: the process that is at it,
 * null once it has ended.
 */
type SavedProgress = { line: number; digest: number; open: number[]; destination: string; pid: number | null }

/** `begin` and `finish` are told of each name; `save` writes the file at most once a second, `end` in any case. */
export type ListProgress = {
  startEntry(entry: ListEntry): void
  finishEntry(entry: NameEntry): void
  save(): void
  /** Removes the file where the list is `done` and nothing is open, or nothing was begun; writes it otherwise. */
  finish(done: boolean): void
  /** The entries of the list that are not done. */
  remainingEntries(): AsyncIterable<ListEntry>
  /** The line behind which it goes on; 0 for a list that was not begun. */
  readonly resumeAfterLine: number
}

const MIN_SAVE_INTERVAL_MS = 1000

/** The place of a list that can be read again. Throws CommandFault where another crawl of it was begun, with what to do. */
export function openListProgress(list: NameList, destination: string): ListProgress {
  if (list.path === null || list.path === '-' || !list.stats?.isFile()) return untrackedProgress(list)
  const file = `${list.path}.progress`
  const saved = readSavedProgress(file)
  if (saved !== null && saved.destination !== destination) {
    throw new CommandFault(
      `a crawl of ${list.path} into ${saved.destination} is not finished: finish it, or remove ${file} to begin anew`,
    )
  }
  if (saved !== null && isInProgress(saved)) {
    throw new CommandFault(
      `process ${saved.pid} is crawling ${list.path}: wait until it has ended, or remove ${file} if that is no crawl`,
    )
  }
  const state = { line: saved?.line ?? 0, digest: saved?.digest ?? 0, open: new Set(saved?.open), savedAt: 0 }
  const saveProgress = (worker: number | null): void =>
    writeSavedProgress(file, {
      line: state.line,
      digest: state.digest,
      open: [...state.open],
      destination,
      pid: worker,
    })
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

/** Arguments, standard input, and what comes through a pipe, cannot be gone on with. */
const untrackedProgress = (list: NameList): ListProgress => ({
  resumeAfterLine: 0,
  startEntry() {},
  finishEntry() {},
  save() {},
  finish() {},
  remainingEntries: () => list.entries,
})

/** Null where there is none. Throws CommandFault for one that cannot be read. */
function readSavedProgress(file: string): SavedProgress | null {
  try {
    const { line, digest, open, destination: to, pid } = JSON.parse(readFileSync(file, 'utf8')) as SavedProgress
    const isWhole = [line, digest, pid ?? 0, ...open].every(Number.isInteger) && typeof to === 'string'
    if (isWhole) return { line, digest, open, destination: to, pid }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  }
  throw new CommandFault(`${file} cannot be read: remove it to crawl the list from its beginning`)
}

/** Where the number is our own, whoever had it has ended: a container may give the same one at every start. */
function isInProgress({ pid }: SavedProgress): boolean {
  if (pid === null || pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** By another file and a rename: it is never there by half. */
function writeSavedProgress(file: string, saved: SavedProgress): void {
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify(saved)}\n`)
    renameSync(`${file}.new`, file)
  } catch (error) {
    throw new CommandFault(`${file}, the place of the crawl, cannot be written: ${errorCause(error)}`)
  }
}

/** Nothing of a list that has changed up to the place is handed out. Throws CommandFault for it. */
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
      `${list.path} has changed before line ${line}, where its crawl was stopped: remove ${file} to crawl it from its beginning`,
    )
  }
}
