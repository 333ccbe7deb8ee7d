/** `domaindex crawl` of names: probes each name once and saves the observations in the store or in a file. */

import { resolve } from 'node:path'
import { CommandFault } from '../../config/command-fault.ts'
import { probeIntervalsOf } from '../../config/probe-intervals.ts'
import { loadSettings, type Settings } from '../../config/settings.ts'
import { discoveryOf } from '../../crawler/discovery.ts'
import { type Destination, storeDestination } from '../../crawler/list/destination.ts'
import { type ListProgress, openListProgress } from '../../crawler/list/list-progress.ts'
import { createListReporter } from '../../crawler/list/list-reporter.ts'
import { crawlList } from '../../crawler/list/list-source.ts'
import { createListCrawlTally } from '../../crawler/list/list-tally.ts'
import { type NameList, nameListFromArguments, openNameList } from '../../crawler/list/name-list.ts'
import { openObservationFile } from '../../crawler/list/observation-file.ts'
import { type CrawlAccess, openProbeSystem, type ProbeSystem } from '../../crawler/probe-system.ts'
import type { RevealingSource } from '../../observe/revealed-domains.ts'
import { formatDnsServer } from '../../probe/dns/server.ts'
import type { OptOutList } from '../../probe/policy/opt-out.ts'
import type { DnsFailure } from '../../probe/probe-result.ts'
import type { SelfCheckPlan } from '../../probe/self-check/plan.ts'
import {
  crawlAccessOf,
  openConfiguredOptOut,
  resolverWarning,
  selfCheckPlanOf,
} from '../../server/crawl/crawl-access.ts'
import { printDiskSpace } from '../../server/disk-space.ts'
import { SYSTEM_CLOCK } from '../../server/system-clock.ts'
import { DiskSpaceMonitor } from '../../store/disk-space.ts'
import { engineOf, redactedStoreUrl } from '../../store/engines.ts'
import { openStore } from '../../store/open.ts'
import type { StoreLocation } from '../../store/port/url.ts'
import { listenForStop, startProgress } from '../program/output.ts'
import type { CrawlOptions } from './options.ts'

export async function runListCommand(names: string[], options: CrawlOptions): Promise<void> {
  const settings = loadSettings()
  const stop = listenForStop()
  try {
    const optOut = openConfiguredOptOut(settings, (message) => console.error(`domaindex: ${message}`))
    const access = {
      ...crawlAccessOf(settings, options.resolver, options.allow, optOut.hasAddress),
      plan: selfCheckPlanOf(settings),
      discover: settings.crawlDiscover,
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

type ListCrawlAccess = CrawlAccess & {
  plan: SelfCheckPlan
  optOut: OptOutList
  discover: readonly RevealingSource[]
}

async function crawlIntoDestination(
  destination: Destination,
  list: NameList,
  access: ListCrawlAccess,
  { parallel, out, json }: CrawlOptions,
  signal: AbortSignal,
): Promise<void> {
  let log = (message: string): void => console.error(`domaindex: ${message}`)
  const probeSystem = await openListProbeSystem(access, (message) => log(message))
  const { probe, runSelfCheck, politeness, isOwn } = probeSystem
  const progress = startProgress('probes')
  let listProgress: ListProgress | null = null
  let isDone = false
  try {
    listProgress = openListProgress(list, destination.label)
    const tally = createListCrawlTally(out === undefined ? 'store' : 'file')
    const reporter = createListReporter(list, listProgress.resumeAfterLine, tally, progress)
    log = reporter.log
    isDone = await crawlList({
      ...{ probe, runSelfCheck, destination, politeness, progress: listProgress, tally, parallel, signal },
      ...{ ...reporter, clock: SYSTEM_CLOCK, isOwn, optOut: access.optOut },
      ...discoveryOf(access.discover, access.optOut),
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

/** What a resolver did with the query for the root. */
const ROOT_REPLIES: Readonly<Record<DnsFailure, string>> = {
  timeout: 'does not answer',
  refused: 'refused the query for the root zone (REFUSED)',
  servfail: 'failed the query for the root zone (SERVFAIL)',
  lame: 'referred the query for the root zone to other servers',
  malformed: 'answered the query for the root zone with a malformed message',
}

/** Throws CommandFault if no resolver answers. */
async function openListProbeSystem(access: ListCrawlAccess, log: (message: string) => void): Promise<ProbeSystem> {
  const { servers } = access
  const probeSystem = await openProbeSystem({ ...access, now: () => Math.floor(Date.now() / 1000), log })
  const replies = await probeSystem.rootReplies()
  if (replies.every(({ reply }) => reply === 'timeout')) {
    await probeSystem.close()
    const tried = servers.map(({ address, port }) => `${address} port ${port}`).join(', ')
    throw new CommandFault(`no resolver answers (${tried}): set another one with --resolver`)
  }
  for (const { server, reply } of replies)
    if (reply !== 'ok')
      console.error(`resolver ${formatDnsServer(server)} ${ROOT_REPLIES[reply]}, so it may know only some names`)
  const warning = resolverWarning(servers)
  if (warning !== null) console.error(warning)
  return probeSystem
}

function nameListOf(names: string[], file: string | undefined, signal: AbortSignal): NameList {
  const isPiped = names.length === 1 && names[0] === '-'
  return file !== undefined || isPiped ? openNameList(file ?? '-', signal) : nameListFromArguments(names)
}

/** Throws StoreFault if the store cannot be opened. */
async function openStoreDestination(settings: Settings): Promise<Destination> {
  const { secret, pool } = settings
  const intervals = probeIntervalsOf(settings)
  const store = await openStore(settings.store, { access: 'write', ledger: 'own', secret, pool })
  return storeDestination(store, absoluteUrl(settings.store), intervals)
}

/** The URL without its password. It names the same store in every working directory. */
function absoluteUrl(location: StoreLocation): string {
  return engineOf(location)
    .paths(location)
    .reduce((text, path) => text.replace(path, () => resolve(path)), redactedStoreUrl(location))
}

/** Makes writes wait for disk space. A file accepts a batch only if there is space. A store also retries. */
function waitingDestination(destination: Destination, settings: Settings, signal: AbortSignal): Destination {
  const { isFile, label, write } = destination
  const store = isFile ? null : settings.store
  const diskSpace = new DiskSpaceMonitor({
    paths: store === null ? [label] : engineOf(store).paths(store),
    minFree: settings.diskFree,
    notify: printDiskSpace,
  })
  const writeWhenSpace: Destination['write'] = async (...given) => {
    if (!isFile) return diskSpace.write(() => write(...given), signal)
    await diskSpace.wait(signal)
    return write(...given)
  }
  return { ...destination, write: (...given) => writeWhenSpace(...given).catch(throwIfStopped) }
}

/** A crawl that is stopped during a wait for disk space has not written its last results. */
function throwIfStopped(error: unknown): never {
  if ((error as Error).name !== 'AbortError') throw error
  throw new CommandFault('stopped while the disk was full; the last results are not written: run it again to continue')
}
