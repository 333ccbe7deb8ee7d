/** What a crawl says to who runs it: lines that are no names, faults, the line of progress, and how it ended. */

import type { DomainName } from '../../values/domain-name.ts'
import { CommandFault, PARTLY_DONE } from '../../config/command-fault.ts'
import type { startProgress } from '../../cli/program/progress.ts'
import type { ListEntry, NameList } from './name-list.ts'
import type { ListCrawlTally } from './list-tally.ts'

const DELAYED_MESSAGE = 'were not visited, because the servers there ask to be left alone for a while'
const NOT_PROBED_MESSAGE = 'as no resolver could be asked or they do not agree'
/** Lines, or faults, that are told one by one. */
const MAX_REPORTED = 10

/** `from`: the line behind which the crawl goes on, 0 for its beginning. */
export function createListReporter(list: NameList, from: number, tally: ListCrawlTally, progress: ReturnType<typeof startProgress>) {
  let line = from
  let share: number | null = null
  let startShare: number | null = null
  const report = (message: unknown): void => {
    progress.end()
    console.error(message)
  }
  if (from > 0) report(`goes on after line ${from} of ${list.path}`)
  return {
    log: (message: string): void => report(`domaindex: ${message}`),
    onEntry(entry: ListEntry): void {
      if (entry.line > line) ({ line, share } = entry)
      startShare ??= entry.share
      if (entry.name !== null) return
      const count = tally.of('unusable')
      if (count <= MAX_REPORTED) report(`${list.itemName} ${entry.line}: ${entry.reason}`)
      if (count === MAX_REPORTED + 1) report(`more ${list.itemName}s are no names`)
    },
    onProbe: (): void =>
      progress.show(tally.visited(), share, { from: from > 0 ? (startShare ?? 0) : 0, more: tally.line() }),
    onFault(name: DomainName, error: unknown): void {
      if (tally.of('failed') <= MAX_REPORTED) report(`${name}: ${error instanceof Error ? error.stack : error}`)
    },
    /** Sets the exit code. Throws CommandFault where names stay that nobody looked at. */
    finish(isDone: boolean): void {
      const notProbed = tally.of('unseen')
      const retryHint = list.path === null || list.path === '-' ? '' : '; run it again to go on'
      if (!isDone) report(`stopped after ${list.itemName} ${line}${list.path === null ? '' : ` of ${list.path}`}${retryHint}`)
      if (tally.of('unusable') > 0) process.exitCode = PARTLY_DONE
      if (tally.of('failed') > 0) throw new CommandFault(`${tally.of('failed')} visits failed by a fault of domaindex`)
      if (tally.of('held') > 0) throw new CommandFault(`${tally.of('held')} names ${DELAYED_MESSAGE}${retryHint}`)
      if (notProbed > 0) throw new CommandFault(`${notProbed} names could not be looked at, ${NOT_PROBED_MESSAGE}${retryHint}`)
    },
  }
}
