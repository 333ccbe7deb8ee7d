/** What a crawl says to who runs it: lines that are no names, faults, the line of progress, and how it ended. */

import type { Name } from '../../words/name.ts'
import { CommandFault, PARTLY_DONE } from '../fault.ts'
import type { progressOf } from '../progress.ts'
import type { Entry, List } from './list.ts'
import type { Tally } from './tally.ts'

const HELD = 'were not visited, because the servers there ask to be left alone for a while'
const UNSEEN = 'as no resolver could be asked or they do not agree'
/** Lines, or faults, that are told one by one. */
const TOLD = 10

/** `from`: the line behind which the crawl goes on, 0 for its beginning. */
export function tellerOf(list: List, from: number, tally: Tally, progress: ReturnType<typeof progressOf>) {
  let line = from
  let share: number | null = null
  let begun: number | null = null
  const tell = (words: unknown): void => {
    progress.end()
    console.error(words)
  }
  if (from > 0) tell(`goes on after line ${from} of ${list.path}`)
  return {
    say: (news: string): void => tell(`domaindex: ${news}`),
    onTaken(entry: Entry): void {
      if (entry.line > line) ({ line, share } = entry)
      begun ??= entry.share
      if (entry.name !== null) return
      const count = tally.of('unusable')
      if (count <= TOLD) tell(`${list.unit} ${entry.line}: ${entry.reason}`)
      if (count === TOLD + 1) tell(`more ${list.unit}s are no names`)
    },
    onVisit: (): void =>
      progress.show(tally.visited(), share, { from: from > 0 ? (begun ?? 0) : 0, more: tally.line() }),
    onFault(name: Name, error: unknown): void {
      if (tally.of('failed') <= TOLD) tell(`${name}: ${error instanceof Error ? error.stack : error}`)
    },
    /** Sets the exit code. Throws CommandFault where names stay that nobody looked at. */
    conclude(isDone: boolean): void {
      const open = tally.of('unseen')
      const again = list.path === null || list.path === '-' ? '' : '; run it again to go on'
      if (!isDone) tell(`stopped after ${list.unit} ${line}${list.path === null ? '' : ` of ${list.path}`}${again}`)
      if (tally.of('unusable') > 0) process.exitCode = PARTLY_DONE
      if (tally.of('failed') > 0) throw new CommandFault(`${tally.of('failed')} visits failed by a fault of domaindex`)
      if (tally.of('held') > 0) throw new CommandFault(`${tally.of('held')} names ${HELD}${again}`)
      if (open > 0) throw new CommandFault(`${open} names could not be looked at, ${UNSEEN}${again}`)
    },
  }
}
