/** `domaindex serve`: serves the API over HTTP until a signal stops it. With --crawl, it also crawls. */

import { type Command, Option } from 'commander'
import { createSignInLink } from '../../api/auth/sign-in-link.ts'
import { loadSettings } from '../../config/settings.ts'
import type { DnsServer } from '../../probe/dns/server.ts'
import { startServer } from '../../server/primary.ts'
import type { Store } from '../../store/port/store.ts'
import { collectServer, parseParallel } from '../crawl/options.ts'
import { settingParser } from '../program/arguments.ts'

type ServeCommandOptions = {
  port?: number
  host?: string
  crawl?: true
  ct?: true
  resolver: DnsServer[]
  parallel: number
}

const SERVE_HELP = `
Logs go to standard error, one JSON object per line. The listener DOMAINDEX_ADMIN serves the
metrics, and DOMAINDEX_CRAWL_ADMIN serves those of the crawl. SIGTERM or SIGINT shuts the server
down gracefully: it accepts no new requests and answers open ones. A second signal,
more than a second later, stops it at once.`

export function defineServe(command: Command): void {
  command
    .option('--port <port>', 'port to listen on; by default DOMAINDEX_PORT', settingParser('port'))
    .option('--host <address>', 'address to listen on; by default DOMAINDEX_HOST', settingParser('host'))
    .option('--crawl', 'also crawl due names in a child process, as crawl --loop does')
    .option('--ct', 'also follow certificate logs in a child process, as fetch ct does')
    .addOption(
      new Option('--resolver <address[:port]>', 'query this resolver in the crawl; may be repeated')
        .argParser(collectServer)
        .default([], 'the resolvers of the system'),
    )
    .option('--parallel <probes>', 'concurrent probes of the crawl', parseParallel, 256)
    .addHelpText('after', SERVE_HELP)
    .action(async ({ crawl, ct, resolver, parallel, ...listener }: ServeCommandOptions) => {
      const settings = { ...loadSettings(), ...listener }
      if (crawl) {
        const { checkCrawlSettings } = await import('../../server/crawl/continuous-crawl.ts') // loads the crawler only if it runs
        checkCrawlSettings(settings, { resolver, allow: [], parallel })
      }
      if (settings.crawlOptOut !== null) {
        const { openConfiguredOptOut } = await import('../../server/crawl/crawl-access.ts')
        openConfiguredOptOut(settings, () => {}).close() // jobs would not start without a usable list
      }
      const { address, ended, store } = await startServer(settings, {
        demo: false,
        crawl: crawl ? { resolver, parallel } : null,
        hasCertificateLogs: ct ?? false,
      })
      console.log(`domaindex listens on ${address}`)
      await showSetupLink(store, settings.publicUrl ?? address)
      await ended
    })
}

/**
 * Shows a link that creates the first operator. Only a terminal gets it: the output of a service goes to a log. Without
 * one, `domaindex account` creates the operator.
 */
async function showSetupLink({ ledger, now }: Store, address: string): Promise<void> {
  if (!process.stdout.isTTY || (await ledger.hasOperator())) return
  const link = await createSignInLink(ledger, null, address, await now())
  console.log(`No operator can sign in yet. Open this link on this machine within 15 minutes:\n  ${link}`)
}
