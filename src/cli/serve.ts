/** `domaindex serve`: answers requests over HTTP until it is asked to stop, and crawls beside if it is told to. */

import type { Command } from 'commander'
import { loadSettings } from '../config/settings.ts'
import type { Server } from '../probe/dns/resolver.ts'
import { collectServer, parseParallel } from './crawl/options.ts'
import { startServer } from '../server/primary.ts'

type ServeCommandOptions = { crawl?: true; resolver: Server[]; parallel: number }

const SERVE_HELP = `
Logs go to standard error, a JSON object a line. Metrics are given out by the listener that DOMAINDEX_ADMIN names, those of
the crawl by that of DOMAINDEX_CRAWL_ADMIN.
SIGTERM and SIGINT end it in order: nothing new is accepted, what is under way is answered. A second one ends it at once.`

export function defineServe(command: Command): void {
  command
    .option('--crawl', 'crawl what is due in a process beside, as crawl --loop does')
    .option('--resolver <address[:port]>', 'of the crawl, as of domaindex crawl; may be repeated', collectServer, [])
    .option('--parallel <visits>', 'of the crawl: visits in flight at once', parseParallel, 256)
    .addHelpText('after', SERVE_HELP)
    .action(async ({ crawl, resolver, parallel }: ServeCommandOptions) => {
      const settings = loadSettings()
      if (crawl) {
        const { checkCrawlSettings: expectCrawl } = await import('../server/crawl/continuous-crawl.ts') // what crawls is loaded where it is wanted
        expectCrawl(settings, { resolver, allow: [], parallel })
      }
      const { address, ended } = await startServer(settings, {
        demo: false,
        crawl: crawl ? { resolver, parallel } : null,
      })
      console.log(`domaindex listens on ${address}`)
      await ended
    })
}
