/** `domaindex crawl`: probes domains and saves the observations in the store or in a file. */

import { type Command, Option } from 'commander'
import { UsageFault } from '../../config/command-fault.ts'
import { type CrawlOptions, collectRange, collectServer, parseParallel } from './options.ts'

const CRAWL_HELP = `
LIST holds one name per line, plain or compressed by gzip or zstd. Empty lines and comments that
start with # are ignored. A probe queries the seven record types and requests http and https of the
name, and of www. if the name does not respond.

DOMAINDEX_CRAWL_CONTACT identifies you in every request. Without it, the crawler connects only to
ranges of --allow. --allow permits a range of your own, as in --allow 127.0.0.0/8, on ports 80 and
443, for this crawl only. Link-local addresses, cloud metadata, the resolvers and domaindex's own
listeners stay blocked.

Ctrl-C finishes the probes in flight within 15 seconds. LIST.progress stores the position in LIST:
the same command resumes there, and deletes the file at the end. --out appends, and removes a
partial last line.

--loop probes the due names of the store until Ctrl-C and logs JSON lines to standard error.
Settings such as DOMAINDEX_CRAWL_RATE control it, and DOMAINDEX_CRAWL_ADMIN serves its metrics.
Several crawlers can use one store.

Exit codes: 0 every name was probed; 1 the crawl failed, or names could not be probed or were rate
limited; 2 wrong usage; 3 invalid lines.`

export function defineCrawl(command: Command): void {
  command
    .argument('[name...]', 'the names, or - for a list on standard input')
    .option('--file <list>', 'a file of names; - is standard input')
    .addOption(
      new Option('--resolver <address[:port]>', 'query this resolver; may be repeated')
        .argParser(collectServer)
        .default([], 'the resolvers of the system'),
    )
    .addOption(
      new Option('--allow <range>', 'allow a range of your own, such as 127.0.0.0/8; may be repeated')
        .argParser(collectRange)
        .default([], 'none'),
    )
    .option('--out <file>', 'append the observations to a file instead of the store; - is standard output')
    .option('--parallel <probes>', 'concurrent probes', parseParallel, 256)
    .option('--loop', 'probe the due names continuously, instead of a list')
    .option('--status', 'show the state of the crawl and probe nothing')
    .option('--json', 'print one JSON object: the counts, or with --status the state of the crawl')
    .addHelpText('after', CRAWL_HELP)
    .action(runCrawlCommand)
}

async function runCrawlCommand(names: string[], options: CrawlOptions, command: Command): Promise<void> {
  const { loop, status, json, file, out } = options
  const isList = names.length > 0 || file !== undefined || out !== undefined
  if ((loop || status) && isList)
    throw new UsageFault('--loop and --status take no names, and neither --file nor --out')
  if (loop && status) throw new UsageFault('give either --loop or --status, not both')
  const probeOptions = ['resolver', 'allow', 'parallel'].filter((name) => command.getOptionValueSource(name) === 'cli')
  if (status && probeOptions.length > 0)
    throw new UsageFault(`--status probes nothing, so it takes no --${probeOptions[0]}: omit it`)
  if (json && loop) throw new UsageFault('--loop prints no result, so --json is not valid with it: it logs JSON lines')
  if (!status && !loop) requireNames(names, file)
  // Loads only the code that runs.
  if (status) return (await import('./status.ts')).printCrawlStatus(json === true)
  if (loop) return (await import('./loop.ts')).runLoopCommand(options)
  return (await import('./list.ts')).runListCommand(names, options)
}

/** Throws UsageFault if there are no names, or both names and a file. */
function requireNames(names: string[], file: string | undefined): void {
  if (file !== undefined && names.length > 0) throw new UsageFault('give either names or --file LIST, not both')
  if (file === undefined && names.length === 0)
    throw new UsageFault('give the names to crawl, or --file LIST, or - for standard input')
}
