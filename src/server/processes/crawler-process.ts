/** The crawler process of `serve --crawl`. */

import { CommandFault } from '../../config/command-fault.ts'
import { userMessageOf } from '../../store/engines.ts'
import { StoreFault } from '../../store/port/fault.ts'
import { runContinuousCrawl } from '../crawl/continuous-crawl.ts'
import { runChildProcess } from './child-process.ts'
import { type CrawlOrder, isCrawlCommand } from './messages.ts'

runChildProcess<CrawlOrder>({
  isOwnMessage: isCrawlCommand,
  run: ({ settings, resolver, parallel }, log, signal) =>
    runContinuousCrawl(settings, { resolver, allow: [], parallel }, log, signal),
  logFatal(log, error) {
    const isPlain = error instanceof CommandFault || error instanceof StoreFault
    const message = isPlain ? error.message : userMessageOf(error)
    if (message === null) log.fatal({ err: error }, 'crawler failed')
    else log.fatal(`crawler failed: ${message}`)
  },
})
