/** The crawler of `serve --crawl`: a process that crawls on and on, as its primary says, and ends when that is gone. */

import { plainWords, StoreFault } from '../../store/fault.ts'
import { crawlForever } from '../crawl/loop.ts'
import { CommandFault } from '../fault.ts'
import { type CrawlOrder, isCrawlCommand } from './messages.ts'
import { runBeside } from './side.ts'

runBeside<CrawlOrder>({
  isMine: isCrawlCommand,
  work: ({ settings, resolver, parallel }, log, signal) =>
    crawlForever(settings, { resolver, allow: [], parallel }, log, signal),
  tellFatal(log, error) {
    const isPlain = error instanceof CommandFault || error instanceof StoreFault
    const words = isPlain ? error.message : plainWords(error)
    if (words === null) log.fatal({ err: error }, 'the crawl ends')
    else log.fatal(`the crawl ends: ${words}`)
  },
})
