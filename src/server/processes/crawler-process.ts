/** The crawler of `serve --crawl`: a process that crawls on and on, as its primary says, and ends when that is gone. */

import { userMessageOf, StoreFault } from '../../store/port/fault.ts'
import { runContinuousCrawl } from '../crawl/continuous-crawl.ts'
import { CommandFault } from '../../config/command-fault.ts'
import { type CrawlOrder, isCrawlCommand } from './messages.ts'
import { runChildProcess } from './child-process.ts'

runChildProcess<CrawlOrder>({
  isOwnMessage: isCrawlCommand,
  run: ({ settings, resolver, parallel }, log, signal) =>
    runContinuousCrawl(settings, { resolver, allow: [], parallel }, log, signal),
  logFatal(log, error) {
    const isPlain = error instanceof CommandFault || error instanceof StoreFault
    const words = isPlain ? error.message : userMessageOf(error)
    if (words === null) log.fatal({ err: error }, 'the crawl ends')
    else log.fatal(`the crawl ends: ${words}`)
  },
})
