/** `domaindex crawl`: probes domains and saves the observations in the store or in a file. */

import type { Command } from 'commander'
import { CommandFault, UsageFault } from '../config/command-fault.ts'
import { loadSettings } from '../config/settings.ts'
import type { Destination } from '../crawler/list/destination.ts'
import { crawlList } from '../crawler/list/list-crawl.ts'
import { type ListProgress, openListProgress } from '../crawler/list/list-progress.ts'
import { createListReporter } from '../crawler/list/list-reporter.ts'
import { createListCrawlTally } from '../crawler/list/list-tally.ts'
import { type NameList, nameListFromArguments, openNameList } from '../crawler/list/name-list.ts'
import { openObservationFile } from '../crawler/list/observation-file.ts'
import { type CrawlAccess, openProbeSystem, type ProbeSystem } from '../crawler/probe-system.ts'
import type { Server } from '../probe/dns/resolver.ts'
import type { AddressRange } from '../probe/guard.ts'
import type { OptOutList } from '../probe/policy/opt-out.ts'
import type { SelfCheckPlan } from '../probe/self-check/plan.ts'
import { runContinuousCrawl } from '../server/crawl/continuous-crawl.ts'
import { crawlAccessOf, openConfiguredOptOut, resolverWarning, selfCheckPlanOf } from '../server/crawl/crawl-access.ts'
import { openLog } from '../server/log.ts'
import { SYSTEM_CLOCK } from '../server/system-clock.ts'
import { openStoreDestination, waitingDestination } from './crawl/list-destination.ts'
import { collectRange, collectServer, parseParallel } from './crawl/options.ts'
import { printCrawlStatus } from './crawl/status.ts'
import { startProgress } from './program/progress.ts'
import { listenForStop } from './program/stop-signal.ts'

type Options = {
  file?: string
  resolver: Server[]
  allow: AddressRange[]
  out?: string
  parallel: number
  loop?: true
  status?: true
  json?: true
}

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
    .option('--resolver <address[:port]>', "query this resolver, not the system's; may be repeated", collectServer, [])
    .option('--allow <range>', 'allow a range of your own, such as 127.0.0.0/8; may be repeated', collectRange, [])
    .option('--out <file>', 'append the observations to a file instead of the store; - is standard output')
    .option('--parallel <probes>', 'concurrent probes', parseParallel, 256)
    .option('--loop', 'probe the due names continuously, instead of a list')
    .option('--status', 'show the state of the crawl and probe nothing')
    .option('--json', 'print one JSON object: the counts, or with --status the state of the crawl')
    .addHelpText('after', CRAWL_HELP)
    .action(runCrawlCommand)
}

async function runCrawlCommand(names: string[], options: Options): Promise<void> {
  const { loop, status, json, file, out } = options
  const isList = names.length > 0 || file !== undefined || out !== undefined
  if ((loop || status) && isList)
    throw new UsageFault('--loop and --status take no names, and neither --file nor --out')
  if (loop && status) throw new UsageFault('give either --loop or --status, not both')
  if (json && loop) throw new UsageFault('--loop prints no result, so --json is not valid with it: it logs JSON lines')
  if (status) return printCrawlStatus(json === true)
  if (loop) return runLoopCommand(options)
  requireNames(names, file)
  return runListCommand(names, options)
}

async function runLoopCommand(options: Options): Promise<void> {
  const settings = loadSettings()
  const { log, flush } = openLog(settings.logLevel)
  const stop = listenForStop()
  try {
    await runContinuousCrawl(settings, options, log, stop.signal)
  } finally {
    flush()
    stop.end()
  }
}

async function runListCommand(names: string[], options: Options): Promise<void> {
  const settings = loadSettings()
  const stop = listenForStop()
  try {
    const optOut = openConfiguredOptOut(settings, (message) => console.error(`domaindex: ${message}`))
    const access = {
      ...crawlAccessOf(settings, options.resolver, options.allow, optOut.hasAddress),
      plan: selfCheckPlanOf(settings),
      optOut,
    }
    const list = nameListOf(names, options.file, stop.signal)
    const { out } = options
    const opened = out === undefined ? await openStoreDestination(settings) : openObservationFile(out, list.stats)
    const destination = waitingDestination(opened, settings, stop.signal)
    try {
      await crawlIntoDestination(destination, list, access, options, stop.signal)
    } finally {
      await destination.close()
    }
  } finally {
    stop.end()
  }
}

type ListCrawlAccess = CrawlAccess & { plan: SelfCheckPlan; optOut: OptOutList }

async function crawlIntoDestination(
  destination: Destination,
  list: NameList,
  access: ListCrawlAccess,
  { parallel, out, json }: Options,
  signal: AbortSignal,
): Promise<void> {
  let log = (message: string): void => console.error(`domaindex: ${message}`)
  const probeSystem = await openListProbeSystem(access, (message) => log(message))
  const { probe, runSelfCheck, politeness: limiter, isOwn } = probeSystem
  const politeness = { limiter, isOwn, optOut: access.optOut, nowMs: () => performance.now() }
  const progress = startProgress('probes')
  let listProgress: ListProgress | null = null
  let isDone = false
  try {
    listProgress = openListProgress(list, destination.label)
    const tally = createListCrawlTally(out === undefined ? 'store' : 'file')
    const reporter = createListReporter(list, listProgress.resumeAfterLine, tally, progress)
    log = reporter.log
    isDone = await crawlList({
      ...{ prober: { probe }, runSelfCheck, destination, politeness, progress: listProgress, tally, parallel, signal },
      ...{ ...reporter, clock: SYSTEM_CLOCK },
    })
    progress.end()
    const print = out === '-' ? console.error : console.log
    const seconds = progress.seconds()
    print(json ? JSON.stringify(tally.object(seconds)) : tally.summary(seconds))
    reporter.finish(isDone)
  } finally {
    progress.end()
    await probeSystem.close()
    listProgress?.finish(isDone)
  }
}

/** Throws CommandFault if no resolver answers. */
async function openListProbeSystem(access: ListCrawlAccess, log: (message: string) => void): Promise<ProbeSystem> {
  const { servers } = access
  const probeSystem = await openProbeSystem({ ...access, now: () => Math.floor(Date.now() / 1000), log })
  if (!(await probeSystem.isAnyResolverUp())) {
    await probeSystem.close()
    const where = servers.map(({ address, port }) => `${address} port ${port}`).join(', ')
    throw new CommandFault(`no resolver answers (${where}): set another one with --resolver`)
  }
  const advice = resolverWarning(servers)
  if (advice !== null) console.error(advice)
  return probeSystem
}

/** Throws UsageFault if there are no names, or both names and a file. */
function requireNames(names: string[], file: string | undefined): void {
  if (file !== undefined && names.length > 0) throw new UsageFault('give either names or --file LIST, not both')
  if (file === undefined && names.length === 0)
    throw new UsageFault('give the names to crawl, or --file LIST, or - for standard input')
}

function nameListOf(names: string[], file: string | undefined, signal: AbortSignal): NameList {
  const isPiped = names.length === 1 && names[0] === '-'
  return file !== undefined || isPiped ? openNameList(file ?? '-', signal) : nameListFromArguments(names)
}
