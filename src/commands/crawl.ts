/** `domaindex crawl`: visits domains, and brings what it sees into the store or into a file. */

import type { Command } from 'commander'
import { loadSettings } from '../config.ts'
import type { ControlPlan } from '../crawl/control-plan.ts'
import type { Server } from '../crawl/dns.ts'
import type { Range } from '../crawl/guard.ts'
import type { OptOut } from '../crawl/opt-out.ts'
import { type Destination, openStoreDestination, patientDestination } from './crawl/destination.ts'
import { type Eyes, openEyes, optOutOf } from './crawl/eyes.ts'
import { type List, listOfArguments, openList } from './crawl/list.ts'
import { crawlForever } from './crawl/loop.ts'
import { addRange, addServer, readParallel } from './crawl/options.ts'
import { openOut } from './crawl/out.ts'
import { type Place, placeOf } from './crawl/place.ts'
import { adviceOn, planOf, type Reach, reachOf } from './crawl/reach.ts'
import { printStatus } from './crawl/status.ts'
import { makeTally } from './crawl/tally.ts'
import { tellerOf } from './crawl/tell.ts'
import { crawlAll } from './crawl/visits.ts'
import { CommandFault, UsageFault } from './fault.ts'
import { progressOf } from './progress.ts'
import { openLog } from './serve/log.ts'
import { listenForStop } from './stop.ts'

type Options = {
  file?: string
  resolver: Server[]
  allow: Range[]
  out?: string
  parallel: number
  loop?: true
  status?: true
  json?: true
}

const HELP = `
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

export function define(command: Command): void {
  command
    .argument('[name...]', 'the names, or - for a list on standard input')
    .option('--file <list>', 'a file of names; - is standard input')
    .option('--resolver <address[:port]>', "ask this resolver, not the system's; may be repeated", addServer, [])
    .option('--allow <range>', 'open a range of your own, such as 127.0.0.0/8; may be repeated', addRange, [])
    .option('--out <file>', 'append the observations to a file instead of the store; - is standard output')
    .option('--parallel <visits>', 'visits in flight at once', readParallel, 256)
    .option('--loop', 'visit what is due, on and on, in place of a list')
    .option('--status', 'say how the crawl of what is due goes, and visit nothing')
    .option('--json', 'print one JSON object: the counts, or with --status how the crawl goes')
    .addHelpText('after', HELP)
    .action(choose)
}

async function choose(names: string[], options: Options): Promise<void> {
  const { loop, status, json, file, out } = options
  const isList = names.length > 0 || file !== undefined || out !== undefined
  if ((loop || status) && isList)
    throw new UsageFault('--loop and --status take no names, and neither --file nor --out')
  if (loop && status) throw new UsageFault('give either --loop or --status, not both')
  if (json && loop) throw new UsageFault('--loop prints no result, so --json does not go with it: it logs JSON lines')
  if (status) return printStatus(json === true)
  if (loop) return crawlLoop(options)
  expectNames(names, file)
  return crawl(names, options)
}

async function crawlLoop(options: Options): Promise<void> {
  const settings = loadSettings()
  const { log, flush } = openLog(settings.logLevel)
  const stop = listenForStop()
  try {
    await crawlForever(settings, options, log, stop.signal)
  } finally {
    flush()
    stop.end()
  }
}

async function crawl(names: string[], options: Options): Promise<void> {
  const settings = loadSettings()
  const stop = listenForStop()
  try {
    const optOut = optOutOf(settings, (words) => console.error(`domaindex: ${words}`))
    const reach = {
      ...reachOf(settings, options.resolver, options.allow, optOut.hasAddress),
      plan: planOf(settings),
      optOut,
    }
    const list = listOf(names, options.file, stop.signal)
    const { out } = options
    const opened = out === undefined ? await openStoreDestination(settings) : openOut(out, list.stats)
    const destination = patientDestination(opened, settings, stop.signal)
    try {
      await crawlInto(destination, list, reach, options, stop.signal)
    } finally {
      await destination.close()
    }
  } finally {
    stop.end()
  }
}

type Looking = Reach & { plan: ControlPlan; optOut: OptOut }

async function crawlInto(
  destination: Destination,
  list: List,
  reach: Looking,
  { parallel, out, json }: Options,
  signal: AbortSignal,
): Promise<void> {
  let say = (news: string): void => console.error(`domaindex: ${news}`)
  const eyes = await openListEyes(reach, (news) => say(news))
  const { visit, look, pace, isOwn } = eyes
  const manners = { pace, isOwn, optOut: reach.optOut, ticks: () => performance.now() }
  const progress = progressOf('visits')
  let place: Place | null = null
  let isDone = false
  try {
    place = placeOf(list, destination.to)
    const tally = makeTally(out === undefined ? 'store' : 'file')
    const teller = tellerOf(list, place.from, tally, progress)
    say = teller.say
    const given = { crawler: { visit }, look, destination, manners, place, tally, parallel, signal }
    isDone = await crawlAll({ ...given, ...teller })
    progress.end()
    const print = out === '-' ? console.error : console.log
    const seconds = progress.seconds()
    print(json ? JSON.stringify(tally.object(seconds)) : tally.summary(seconds))
    teller.conclude(isDone)
  } finally {
    progress.end()
    await eyes.close()
    place?.end(isDone)
  }
}

/** Throws CommandFault where no resolver answers, whatever its answer. */
async function openListEyes(reach: Looking, say: (news: string) => void): Promise<Eyes> {
  const { servers } = reach
  const eyes = await openEyes({ ...reach, now: () => Math.floor(Date.now() / 1000), say })
  if (!(await eyes.answers())) {
    await eyes.close()
    const where = servers.map(({ address, port }) => `${address} port ${port}`).join(', ')
    throw new CommandFault(`no resolver answers (${where}): name one that does with --resolver`)
  }
  const advice = adviceOn(servers)
  if (advice !== null) console.error(advice)
  return eyes
}

/** Throws UsageFault where there are no names, or names and a file. */
function expectNames(names: string[], file: string | undefined): void {
  if (file !== undefined && names.length > 0) throw new UsageFault('give either names or --file LIST, not both')
  if (file === undefined && names.length === 0)
    throw new UsageFault('give the names to crawl, or --file LIST, or - for standard input')
}

function listOf(names: string[], file: string | undefined, signal: AbortSignal): List {
  const isPiped = names.length === 1 && names[0] === '-'
  return file !== undefined || isPiped ? openList(file ?? '-', signal) : listOfArguments(names)
}
