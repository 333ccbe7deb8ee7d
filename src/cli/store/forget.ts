/** `domaindex forget`: removes all data of names and keeps later observations out. */

import type { Command } from 'commander'
import { CommandFault, UsageFault } from '../../config/command-fault.ts'
import type { OptOutList } from '../../probe/policy/opt-out.ts'
import { openConfiguredOptOut } from '../../server/crawl/crawl-access.ts'
import type { Store } from '../../store/port/store.ts'
import { type DomainName, nameProblem, parseName, SLOT_COUNT, slotOf } from '../../values/domain-name.ts'
import { loadExistingStoreSettings, withExistingStore } from '../program/existing-store.ts'
import { listenForStop, printResult, startProgress } from '../program/output.ts'

const FORGET_HELP = `
--opted-out reads the whole store and forgets the names and suffixes in the opt-out list
(DOMAINDEX_CRAWL_OPT_OUT). Names on addresses of its ranges stay. Ctrl-C stops it; run it again to
continue.

Later imports and crawls drop observations of a forgotten name. Earlier backups still contain the
name.`

/** Names read at once. */
const FORGET_BATCH_NAMES = 5_000

export function defineForget(command: Command): void {
  command
    .argument('[name...]', 'the names')
    .option('--opted-out', 'forget all names that are on the opt-out list')
    .option('--json', 'print one JSON object: names (name, known); with --opted-out: checked, forgotten')
    .addHelpText('after', FORGET_HELP)
    .action(async (names: string[], { optedOut, json }: { optedOut?: true; json?: true }) => {
      if (optedOut && names.length > 0) throw new UsageFault('give either names or --opted-out, not both')
      if (!optedOut && names.length === 0) throw new UsageFault('give the names to forget, or --opted-out')
      await (optedOut ? forgetOptedOut(json) : forgetNames(names.map(parseNameArgument), json))
    })
}

async function forgetNames(names: readonly DomainName[], json: true | undefined): Promise<void> {
  await withExistingStore('write', async ({ observations }) => {
    const done: { name: DomainName; known: boolean }[] = []
    for (const name of names) {
      const known = await observations.forget(name)
      done.push({ name, known })
      if (!json) console.log(`${name}: ${known ? 'forgotten' : 'was not known'}`)
    }
    printResult(json, { names: done }, [])
  })
}

async function forgetOptedOut(json: true | undefined): Promise<void> {
  const settings = await loadExistingStoreSettings()
  if (settings.crawlOptOut === null) {
    throw new CommandFault('there is no opt-out list: name its file with DOMAINDEX_CRAWL_OPT_OUT')
  }
  const optOut = openConfiguredOptOut(settings, (message) => console.error(`domaindex: ${message}`))
  const stop = listenForStop()
  const progress = startProgress('names')
  try {
    const { checked, forgotten } = await withExistingStore('write', (store) =>
      forgetMatching(store, optOut, stop.signal, progress.show),
    )
    progress.end()
    printResult(json, { checked, forgotten }, [`checked ${checked} names, forgot ${forgotten}`])
    if (stop.signal.aborted) console.error('stopped before the end; run it again to continue')
  } finally {
    progress.end()
    optOut.close()
    stop.end()
  }
}

/** Checks all names of a store and forgets those that are opted out, until the signal aborts. */
async function forgetMatching(
  { schedule, observations }: Pick<Store, 'schedule' | 'observations'>,
  optOut: Pick<OptOutList, 'hasName'>,
  signal: AbortSignal,
  show: (checked: number, share: number) => void,
): Promise<{ checked: number; forgotten: number }> {
  let checked = 0
  let forgotten = 0
  let after: DomainName | null = null
  do {
    const names: DomainName[] = await schedule.names(after, FORGET_BATCH_NAMES)
    for (const name of names) {
      if (signal.aborted) break
      if (optOut.hasName(name) && (await observations.forget(name))) forgotten++
      checked++
    }
    after = names.at(-1) ?? null
    if (after !== null) show(checked, slotOf(after) / SLOT_COUNT)
  } while (after !== null && !signal.aborted)
  return { checked, forgotten }
}

function parseNameArgument(text: string): DomainName {
  const name = parseName(text)
  if (name === null) throw new UsageFault(`${JSON.stringify(text)}: ${nameProblem(text)}`)
  return name
}
