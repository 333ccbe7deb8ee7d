/** `domaindex crawl --loop`: probes the due names of the store until a signal. */

import { loadSettings } from '../../config/settings.ts'
import { runContinuousCrawl } from '../../server/crawl/continuous-crawl.ts'
import { openLog } from '../../server/log.ts'
import { listenForStop } from '../program/output.ts'
import type { CrawlOptions } from './options.ts'

export async function runLoopCommand(options: CrawlOptions): Promise<void> {
  const settings = loadSettings()
  const { log, end } = openLog(settings.logLevel)
  const stop = listenForStop()
  try {
    await runContinuousCrawl(settings, options, log, stop.signal)
  } finally {
    await end()
    stop.end()
  }
}
