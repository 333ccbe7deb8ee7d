/** `domaindex forget`: removes all data of names and keeps later observations out. */

import { createHash } from 'node:crypto'
import type { Command } from 'commander'
import type { ForgottenNames } from '../../accounts/audit.ts'
import { CommandFault, UsageFault } from '../../config/command-fault.ts'
import type { Settings } from '../../config/settings.ts'
import { BuildFault } from '../../jobs/file-store/build-fault.ts'
import type { FileName } from '../../jobs/file-store/file-store.ts'
import { openConfiguredOptOut } from '../../server/crawl/crawl-access.ts'
import { removeFromFinishedFiles } from '../../server/forgotten-files.ts'
import { forgetBelow, forgetName, isAtOrBelow, removeCertificateEvents } from '../../store/forget.ts'
import type { Store } from '../../store/port/store.ts'
import { actorOf } from '../../store/shared/actor.ts'
import { type DomainName, nameProblem, parseName, SLOT_COUNT, slotOf } from '../../values/domain-name.ts'
import { loadExistingStoreSettings, withExistingStore } from '../program/existing-store.ts'
import { listenForStop, printResult, startProgress } from '../program/output.ts'

const FORGET_HELP = `
--suffix forgets a name and all known names below it. --opted-out reads the whole store and forgets the
names and suffixes in the opt-out list (DOMAINDEX_CRAWL_OPT_OUT). Names on addresses of its ranges stay.

Later imports and crawls drop observations of a forgotten name. A name below a suffix that is not known
yet can still come: add the suffix to the opt-out list. Finished files with a forgotten name are rebuilt,
withdrawn or kept (DOMAINDEX_FORGET_FILES). Records of other names that mention a forgotten name stay.
Earlier backups still contain the name.

Ctrl-C stops the command; run it again to continue.

Exit codes: 0 everything is forgotten, 1 it failed, 2 wrong usage.`

/** Names read at once. */
const FORGET_BATCH_NAMES = 5_000

type ForgetOptions = { suffix?: DomainName; optedOut?: true; json?: true }
type Signals = { signal: AbortSignal } & Pick<ReturnType<typeof startProgress>, 'show' | 'end'>

/**
 * What is demanded. `forget`: forgets the names in the store, and returns how many were known. `isForgotten`: whether a
 * name of a file is one of them. `isForgottenHost`: whether a host in a certificate belongs to one of them.
 */
type Demand = Pick<ForgottenNames, 'by'> & {
  given: readonly DomainName[]
  forget: (store: Store, signals: Signals) => Promise<number>
  isForgotten: (name: DomainName) => boolean
  isForgottenHost: (host: DomainName) => boolean
  /** What is printed about the names: lines, and keys of the JSON object. */
  outcome: (forgotten: number) => { lines: string[]; object: object }
}

export function defineForget(command: Command): void {
  command
    .argument('[name...]', 'the names')
    .option('--suffix <name>', 'forget this name and all known names below it', parseNameArgument)
    .option('--opted-out', 'forget all names that are on the opt-out list')
    .option(
      '--json',
      'print one JSON object: names (name, known); with --suffix: forgotten; with --opted-out: checked, forgotten; ' +
        'files (name, outcome)',
    )
    .addHelpText('after', FORGET_HELP)
    .action(runForget)
}

async function runForget(names: string[], { suffix, optedOut, json }: ForgetOptions): Promise<void> {
  const ways = [names.length > 0, suffix !== undefined, optedOut === true].filter((each) => each).length
  if (ways > 1) throw new UsageFault('give either names, --suffix or --opted-out')
  if (ways === 0) throw new UsageFault('give the names to forget, --suffix or --opted-out')
  if (names.length > 0) return forgetDemanded(namesDemand(names.map(parseNameArgument)), json)
  if (suffix !== undefined) return forgetDemanded(suffixDemand(suffix), json)
  const settings = await loadExistingStoreSettings()
  if (settings.crawlOptOut === null)
    throw new CommandFault('there is no opt-out list: name its file with DOMAINDEX_CRAWL_OPT_OUT')
  const optOut = openConfiguredOptOut(settings, (message) => console.error(`domaindex: ${message}`))
  await forgetDemanded(optOutDemand(optOut.hasName), json).finally(optOut.close)
}

async function forgetDemanded(demand: Demand, json: true | undefined): Promise<void> {
  const settings = await loadExistingStoreSettings()
  const stop = listenForStop()
  const progress = startProgress('names')
  const signals: Signals = { signal: stop.signal, show: progress.show, end: progress.end }
  try {
    await withExistingStore('write', (store) => forgetInStore(store, settings, demand, signals, json))
  } catch (error) {
    if (error instanceof BuildFault) throw new CommandFault(`${error.message}; the names are forgotten in the store`)
    if (!stop.signal.aborted) throw error
  } finally {
    progress.end()
    if (stop.signal.aborted) console.error('stopped before the end; run it again to continue')
    stop.end()
  }
}

/** Forgets in the store first, so that what builds files meanwhile leaves the names out. */
async function forgetInStore(
  store: Store,
  settings: Settings,
  demand: Demand,
  signals: Signals,
  json: true | undefined,
): Promise<void> {
  const { by, given, isForgotten, isForgottenHost } = demand
  const files: { name: FileName; outcome: 'rebuilt' | 'withdrawn' }[] = []
  const names = await demand.forget(store, signals)
  signals.end()
  const { lines, object } = demand.outcome(names)
  if (!json) for (const line of lines) console.log(line)
  try {
    if (!signals.signal.aborted) await removeCertificateEvents(store, isForgottenHost)
    await store.observations.sync()
    const onFile = (name: FileName, outcome: 'rebuilt' | 'withdrawn'): void => {
      files.push({ name, outcome })
      if (!json) console.log(`${name}: ${outcome}`)
    }
    const onWait = (job: string): void => console.error(`waiting until another process has built the ${job} files`)
    if (!signals.signal.aborted)
      await removeFromFinishedFiles(settings, store, { isForgotten, onFile, onWait }, signals.signal)
  } finally {
    const sha256 = given.map((name) => createHash('sha256').update(name).digest('hex'))
    await store.ledger.as(actorOf('domaindex forget')).recordForgotten({ by, sha256, names, files: files.length })
    printResult(json, { ...object, files }, [])
  }
}

function namesDemand(given: readonly DomainName[]): Demand {
  const known: { name: DomainName; known: boolean }[] = []
  const all = new Set(given)
  return {
    by: 'name',
    given,
    async forget(store, { signal }) {
      for (const name of given) if (!signal.aborted) known.push({ name, known: await forgetName(store, name) })
      return known.filter((each) => each.known).length
    },
    isForgotten: (name) => all.has(name),
    isForgottenHost: (host) => given.some((name) => isAtOrBelow(host, name)),
    outcome: () => ({
      lines: known.map(({ name, known }) => `${name}: ${known ? 'forgotten' : 'was not known'}`),
      object: { names: known },
    }),
  }
}

function suffixDemand(suffix: DomainName): Demand {
  const isForgotten = (name: DomainName): boolean => isAtOrBelow(name, suffix)
  return {
    by: 'suffix',
    given: [suffix],
    async forget(store, { signal, show }) {
      if ((await store.inverse.progress()).share < 1)
        throw new CommandFault('the inverse index is incomplete: run domaindex index first')
      return forgetBelow(store, suffix, signal, (forgotten) => show(forgotten, null))
    },
    isForgotten,
    isForgottenHost: isForgotten,
    outcome: (forgotten) => ({
      lines: [`forgot ${forgotten} names: ${suffix} and below it`],
      object: { forgotten },
    }),
  }
}

function optOutDemand(isForgotten: (name: DomainName) => boolean): Demand {
  let checked = 0
  return {
    by: 'opt_out',
    given: [],
    async forget(store, { signal, show }) {
      let forgotten = 0
      let after: DomainName | null = null
      do {
        const names: DomainName[] = await store.schedule.names(after, FORGET_BATCH_NAMES)
        for (const name of names) {
          if (signal.aborted) break
          if (isForgotten(name) && (await forgetName(store, name))) forgotten++
          checked++
        }
        after = names.at(-1) ?? null
        if (after !== null) show(checked, slotOf(after) / SLOT_COUNT)
      } while (after !== null && !signal.aborted)
      return forgotten
    },
    isForgotten,
    isForgottenHost: isForgotten,
    outcome: (forgotten) => ({
      lines: [`checked ${checked} names, forgot ${forgotten}`],
      object: { checked, forgotten },
    }),
  }
}

function parseNameArgument(text: string): DomainName {
  const name = parseName(text)
  if (name === null) throw new UsageFault(`${JSON.stringify(text)}: ${nameProblem(text)}`)
  return name
}
