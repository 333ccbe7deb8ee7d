/** The crawler of `serve --crawl`: a process that crawls on and on, as its primary says, and ends when that is gone. */

import { plainWords, StoreFault } from '../../store/fault.ts'
import { crawlForever } from '../crawl/loop.ts'
import { CommandFault } from '../fault.ts'
import { openLog } from './log.ts'
import { type CrawlOrder, isCrawlCommand } from './messages.ts'

const ended = new AbortController()

/** The primary ends it: a signal to the whole group must not make it end before its time. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})

process.on('disconnect', () => ended.abort())
process.on('message', (message) => {
  if (!isCrawlCommand(message)) return
  if (message.do === 'crawl') void crawl(message.order)
  else ended.abort()
})

async function crawl({ settings, resolver, parallel }: CrawlOrder): Promise<void> {
  const { log, flush } = openLog(settings.logLevel)
  const fail = (error: unknown): void => {
    const isPlain = error instanceof CommandFault || error instanceof StoreFault
    const words = isPlain ? error.message : plainWords(error)
    if (words === null) log.fatal({ err: error }, 'the crawl ends')
    else log.fatal(`the crawl ends: ${words}`)
    flush()
    process.exit(1)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
  await crawlForever(settings, { resolver, allow: [], parallel }, log, ended.signal).catch(fail)
  flush()
  process.exit(0)
}
