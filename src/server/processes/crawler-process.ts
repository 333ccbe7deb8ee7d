/** The crawler process of `serve --crawl`. */

import { runContinuousCrawl } from '../crawl/continuous-crawl.ts'
import { runChildProcess } from './child-process.ts'
import type { CrawlOrder } from './messages.ts'

runChildProcess<CrawlOrder>({
  name: 'crawler',
  run: ({ settings, resolver, parallel }, log, signal) =>
    runContinuousCrawl(settings, { resolver, allow: [], parallel }, log, signal),
})
