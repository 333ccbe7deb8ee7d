/** `domaindex crawl`: visits domains, and brings what it sees into the store or into a file. */

import type { Command } from 'commander'
import { loadSettings } from '../config/settings.ts'
import type { SelfCheckPlan } from '../probe/self-check/plan.ts'
import type { Server } from '../probe/dns/resolver.ts'
import type { AddressRange } from '../probe/guard.ts'
import type { OptOutList } from '../probe/policy/opt-out.ts'
import { type Destination, openStoreDestination, waitingDestination } from '../crawler/list/destination.ts'
import { type ProbeSystem, openProbeSystem, openConfiguredOptOut } from '../crawler/probe-system.ts'
import { type NameList, nameListFromArguments, openNameList } from '../crawler/list/name-list.ts'
import { runContinuousCrawl } from '../server/crawl/continuous-crawl.ts'
import { collectRange, collectServer, parseParallel } from './crawl/options.ts'
import { openObservationFile } from '../crawler/list/observation-file.ts'
import { type ListProgress, openListProgress } from '../crawler/list/list-progress.ts'
import { resolverWarning, selfCheckPlanOf, type CrawlAccess, crawlAccessOf } from '../crawler/crawl-access.ts'
import { printCrawlStatus } from './crawl/status.ts'
import { createListCrawlTally } from '../crawler/list/list-tally.ts'
import { createListReporter } from '../crawler/list/list-reporter.ts'
import { crawlList } from '../crawler/list/list-crawl.ts'
import { CommandFault, UsageFault } from '../config/command-fault.ts'
import { startProgress } from './program/progress.ts'
import { openLog } from '../server/log.ts'
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
LIST holds a name a line, plain or compressed by gzip or zstd; empty lines and what follows a # are passed over.
A visit asks for the seven record types and looks at http and https of the name, and of www. where the name shows nothing.
DOMAINDEX_CRAWL_CONTACT says who crawls and stands in every request; without it only what --allow opens is connected to.

--allow opens ranges of your own, as in --allow 127.0.0.0/8, on ports 80 and 443, for this crawl alone. Link-local
addresses, those of cloud metadata, the resolvers and domaindex's own listeners stay closed.

Ctrl-C finishes the visits in flight, for 15 seconds at most. The place in LIST is kept in LIST.place: the same command
goes on from there, and the file is gone at the end. --out appends; a line that was left there by half is taken away.

--loop visits what is due in the store until Ctrl-C; it logs JSON lines to standard error. DOMAINDEX_CRAWL_RATE and the other
settings of the crawl say how, DOMAINDEX_CRAWL_ADMIN where its metrics are. Any number of them may run on one store.

Exit codes: 0 every name was visited, 1 the crawl failed, or names could not be looked at from here or were held, 2 wrong usage, 3
lines are no names.`

export function defineCrawl(command: Command): void {
  command
    .argument('[name...]', 'the names, or - for a list on standard input')
    .option('--file <list>', 'a file of names; - is standard input')
    .option('--resolver <address[:port]>', "ask this resolver, not the system's; may be repeated", collectServer, [])
    .option('--allow <range>', 'open a range of your own, such as 127.0.0.0/8; may be repeated', collectRange, [])
    .option('--out <file>', 'append the observations to a file instead of the store; - is standard output')
    .option('--parallel <visits>', 'visits in flight at once', parseParallel, 256)
    .option('--loop', 'visit what is due, on and on, in place of a list')
    .option('--status', 'say how the crawl of what is due goes, and visit nothing')
    .option('--json', 'print one JSON object: the counts, or with --status how the crawl goes')
    .addHelpText('after', CRAWL_HELP)
    .action(runCrawlCommand)
}

async function runCrawlCommand(names: string[], options: Options): Promise<void> {
  const { loop, status, json, file, out } = options
  const isList = names.length > 0 || file !== undefined || out !== undefined
  if ((loop || status) && isList)
    throw new UsageFault('--loop and --status take no names, and neither --file nor --out')
  if (loop && status) throw new UsageFault('give either --loop or --status, not both')
  if (json && loop) throw new UsageFault('--loop prints no result, so --json does not go with it: it logs JSON lines')
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
    const optOut = openConfiguredOptOut(settings, (words) => console.error(`domaindex: ${words}`))
    const reach = {
      ...crawlAccessOf(settings, options.resolver, options.allow, optOut.hasAddress),
      plan: selfCheckPlanOf(settings),
      optOut,
    }
    const list = nameListOf(names, options.file, stop.signal)
    const { out } = options
    const opened = out === undefined ? await openStoreDestination(settings) : openObservationFile(out, list.stats)
    const destination = waitingDestination(opened, settings, stop.signal)
    try {
      await crawlIntoDestination(destination, list, reach, options, stop.signal)
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
  let log = (news: string): void => console.error(`domaindex: ${news}`)
  const probeSystem = await openListProbeSystem(access, (news) => log(news))
  const { probe, runSelfCheck, politeness: limiter, isOwn } = probeSystem
  const politeness = { pace: limiter, isOwn, optOut: access.optOut, ticks: () => performance.now() }
  const progress = startProgress('visits')
  let listProgress: ListProgress | null = null
  let isDone = false
  try {
    listProgress = openListProgress(list, destination.label)
    const tally = createListCrawlTally(out === undefined ? 'store' : 'file')
    const reporter = createListReporter(list, listProgress.resumeAfterLine, tally, progress)
    log = reporter.log
    const given = { prober: { probe: probe }, runSelfCheck: runSelfCheck, destination, manners: politeness, progress: listProgress, tally, parallel, signal }
    isDone = await crawlList({ ...given, ...reporter })
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

/** Throws CommandFault where no resolver answers, whatever its answer. */
async function openListProbeSystem(access: ListCrawlAccess, log: (news: string) => void): Promise<ProbeSystem> {
  const { servers } = access
  const probeSystem = await openProbeSystem({ ...access, now: () => Math.floor(Date.now() / 1000), log })
  if (!(await probeSystem.isAnyResolverUp())) {
    await probeSystem.close()
    const where = servers.map(({ address, port }) => `${address} port ${port}`).join(', ')
    throw new CommandFault(`no resolver answers (${where}): name one that does with --resolver`)
  }
  const advice = resolverWarning(servers)
  if (advice !== null) console.error(advice)
  return probeSystem
}

/** Throws UsageFault where there are no names, or names and a file. */
function requireNames(names: string[], file: string | undefined): void {
  if (file !== undefined && names.length > 0) throw new UsageFault('give either names or --file LIST, not both')
  if (file === undefined && names.length === 0)
    throw new UsageFault('give the names to crawl, or --file LIST, or - for standard input')
}

function nameListOf(names: string[], file: string | undefined, signal: AbortSignal): NameList {
  const isPiped = names.length === 1 && names[0] === '-'
  return file !== undefined || isPiped ? openNameList(file ?? '-', signal) : nameListFromArguments(names)
}
