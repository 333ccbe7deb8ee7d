/** Reports a list crawl to its user: invalid lines, errors, progress and the result. */

import { CommandFault, PARTLY_DONE } from '../../config/command-fault.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { ListCrawlTally } from './list-tally.ts'
import type { ListEntry, NameList } from './name-list.ts'

const DELAYED_MESSAGE = 'were not probed, because their servers requested a longer pause'
const NOT_PROBED_MESSAGE = 'because no resolver responds or the resolvers disagree'
/** A progress line. `show` takes the finished count and the share (0 to 1) of the whole. */
type ProgressDisplay = {
  show(done: number, share: number | null, extra: { from: number; more: string }): void
  end(): void
}

/** Maximum of lines or errors reported one by one. */
const MAX_REPORTED = 10

/** `from`: the line after which the crawl resumes, 0 for the start. */
export function createListReporter(list: NameList, from: number, tally: ListCrawlTally, progress: ProgressDisplay) {
  let line = from
  let share: number | null = null
  let startShare: number | null = null
  const report = (message: unknown): void => {
    progress.end()
    console.error(message)
  }
  if (from > 0) report(`resuming after line ${from} of ${list.path}`)
  return {
    log: (message: string): void => report(`domaindex: ${message}`),
    onEntry(entry: ListEntry): void {
      if (entry.line > line) ({ line, share } = entry)
      startShare ??= entry.share
      if (entry.name !== null) return
      const count = tally.of('invalid')
      if (count <= MAX_REPORTED) report(`${list.itemName} ${entry.line}: ${entry.reason}`)
      if (count === MAX_REPORTED + 1) report(`more ${list.itemName}s are invalid`)
    },
    onProbe: (): void =>
      progress.show(tally.probed(), share, { from: from > 0 ? (startShare ?? 0) : 0, more: tally.line() }),
    onFault(name: DomainName, error: unknown): void {
      if (tally.of('failed') <= MAX_REPORTED) report(`${name}: ${error instanceof Error ? error.stack : error}`)
    },
    /** Sets the exit code. Throws CommandFault if some names were not probed. */
    finish(isDone: boolean): void {
      const retryHint = list.path === null || list.path === '-' ? '' : '; run it again to continue'
      if (!isDone)
        report(`stopped after ${list.itemName} ${line}${list.path === null ? '' : ` of ${list.path}`}${retryHint}`)
      if (tally.of('invalid') > 0) process.exitCode = PARTLY_DONE
      if (tally.of('failed') > 0)
        throw new CommandFault(`${tally.of('failed')} probes failed because of an error in domaindex`)
      if (tally.of('rate_limited') > 0)
        throw new CommandFault(`${tally.of('rate_limited')} names ${DELAYED_MESSAGE}${retryHint}`)
      if (tally.of('not_probed') > 0)
        throw new CommandFault(`${tally.of('not_probed')} names could not be probed, ${NOT_PROBED_MESSAGE}${retryHint}`)
    },
  }
}
