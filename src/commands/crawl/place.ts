/** The place of a crawl in its list, kept in a small file beside it while it is not done, so that it can go on. */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { plainCause } from '../../input/fault.ts'
import { CommandFault } from '../fault.ts'
import type { Entry, List, Named } from './list.ts'

/**
 * What the file holds. Every line up to `line` was begun, and all but those of `open` are done. `digest`: of the list up to
 * `line`. `to`: where the observations go. `pid`: the process that is at it,
 * null once it has ended.
 */
type Kept = { line: number; digest: number; open: number[]; to: string; pid: number | null }

/** `begin` and `finish` are told of each name; `save` writes the file at most once a second, `end` in any case. */
export type Place = {
  begin(entry: Entry): void
  finish(entry: Named): void
  save(): void
  /** Removes the file where the list is `done` and nothing is open, or nothing was begun; writes it otherwise. */
  end(done: boolean): void
  /** The entries of the list that are not done. */
  rest(): AsyncIterable<Entry>
  /** The line behind which it goes on; 0 for a list that was not begun. */
  readonly from: number
}

const MILLISECONDS = 1000

/** The place of a list that can be read again. Throws CommandFault where another crawl of it was begun, with what to do. */
export function placeOf(list: List, to: string): Place {
  if (list.path === null || list.path === '-' || !list.stats?.isFile()) return NOWHERE(list)
  const file = `${list.path}.place`
  const kept = readKept(file)
  if (kept !== null && kept.to !== to) {
    throw new CommandFault(
      `a crawl of ${list.path} into ${kept.to} is not finished: finish it, or remove ${file} to begin anew`,
    )
  }
  if (kept !== null && isAtWork(kept)) {
    throw new CommandFault(
      `process ${kept.pid} is crawling ${list.path}: wait until it has ended, or remove ${file} if that is no crawl`,
    )
  }
  const state = { line: kept?.line ?? 0, digest: kept?.digest ?? 0, open: new Set(kept?.open), saved: 0 }
  const write = (worker: number | null): void =>
    keep(file, { line: state.line, digest: state.digest, open: [...state.open], to, pid: worker })
  write(process.pid)
  return {
    from: state.line,
    begin({ line, digest, name }) {
      if (line > state.line) Object.assign(state, { line, digest })
      if (name !== null) state.open.add(line)
    },
    finish: ({ line }) => void state.open.delete(line),
    save() {
      if (performance.now() - state.saved < MILLISECONDS) return
      write(process.pid)
      state.saved = performance.now()
    },
    end: (done) => (state.line === 0 || (done && state.open.size === 0) ? rmSync(file, { force: true }) : write(null)),
    rest: () => (kept === null ? list.entries : restOf(list, kept, file)),
  }
}

/** Arguments, standard input, and what comes through a pipe, cannot be gone on with. */
const NOWHERE = (list: List): Place => ({
  from: 0,
  begin() {},
  finish() {},
  save() {},
  end() {},
  rest: () => list.entries,
})

/** Null where there is none. Throws CommandFault for one that cannot be read. */
function readKept(file: string): Kept | null {
  try {
    const { line, digest, open, to, pid } = JSON.parse(readFileSync(file, 'utf8')) as Kept
    const isWhole = [line, digest, pid ?? 0, ...open].every(Number.isInteger) && typeof to === 'string'
    if (isWhole) return { line, digest, open, to, pid }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  }
  throw new CommandFault(`${file} cannot be read: remove it to crawl the list from its beginning`)
}

/** Where the number is our own, whoever had it has ended: a container may give the same one at every start. */
function isAtWork({ pid }: Kept): boolean {
  if (pid === null || pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** By another file and a rename: it is never there by half. */
function keep(file: string, kept: Kept): void {
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify(kept)}\n`)
    renameSync(`${file}.new`, file)
  } catch (error) {
    throw new CommandFault(`${file}, the place of the crawl, cannot be written: ${plainCause(error)}`)
  }
}

/** Nothing of a list that has changed up to the place is handed out. Throws CommandFault for it. */
async function* restOf(list: List, { line, digest, open }: Kept, file: string): AsyncGenerator<Entry> {
  const begun = new Set(open)
  const again: Entry[] = []
  let isChanged = line > 0
  for await (const entry of list.entries) {
    if (entry.line > line && isChanged) break
    if (entry.line === line) isChanged = entry.digest !== digest
    if (entry.line > line) yield entry
    else if (begun.has(entry.line)) again.push(entry)
    if (entry.line === line && !isChanged) yield* again
  }
  if (isChanged) {
    throw new CommandFault(
      `${list.path} has changed before line ${line}, where its crawl was stopped: remove ${file} to crawl it from its beginning`,
    )
  }
}
