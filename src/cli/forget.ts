/** `domaindex forget`: removes all that is known of names, and keeps them from coming back. */

import type { Command } from 'commander'
import type { OptOutList } from '../probe/policy/opt-out.ts'
import type { Store } from '../store/port/store.ts'
import { type DomainName, parseName, slotOf, nameProblem } from '../values/domain-name.ts'
import { openConfiguredOptOut } from '../crawler/probe-system.ts'
import { CommandFault, UsageFault } from '../config/command-fault.ts'
import { startProgress } from './program/progress.ts'
import { printResult } from './program/print-result.ts'
import { listenForStop } from './program/stop-signal.ts'
import { loadExistingStoreSettings, withExistingStore } from './program/existing-store.ts'

const FORGET_HELP = `
--opted-out goes through the whole store and forgets what the list of DOMAINDEX_CRAWL_OPT_OUT names, suffixes included. What is
stored of names on addresses of its ranges stays. Ctrl-C stops it; run again, it goes on with what is left.

What imports and crawls bring of a forgotten name later is dropped. Backups made before still hold it.`

/** Names read at once. */
const FORGET_BATCH_NAMES = 5_000
const SLOT_COUNT = 65_536

export function defineForget(command: Command): void {
  command
    .argument('[name...]', 'the names')
    .option('--opted-out', 'forget all names that are on the opt-out list')
    .option('--json', 'print one JSON object: names (name, known); with --opted-out: seen, forgotten')
    .addHelpText('after', FORGET_HELP)
    .action(async (given: string[], { optedOut, json }: { optedOut?: true; json?: true }) => {
      if (optedOut && given.length > 0) throw new UsageFault('give either names or --opted-out, not both')
      if (!optedOut && given.length === 0) throw new UsageFault('give the names to forget, or --opted-out')
      await (optedOut ? forgetOptedOut(json) : forgetNames(given.map(parseNameArgument), json))
    })
}

async function forgetNames(names: readonly DomainName[], json: true | undefined): Promise<void> {
  await withExistingStore('write', async ({ observations: frontier }) => {
    const done: { name: DomainName; known: boolean }[] = []
    for (const name of names) {
      const known = await frontier.forget(name)
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
  const optOut = openConfiguredOptOut(settings, (words) => console.error(`domaindex: ${words}`))
  const stop = listenForStop()
  const progress = startProgress('names')
  try {
    const { seen, forgotten } = await withExistingStore('write', (store) => forgetMatching(store, optOut, stop.signal, progress.show))
    progress.end()
    printResult(json, { seen, forgotten }, [`looked at ${seen} names, forgot ${forgotten}`])
    if (stop.signal.aborted) console.error('stopped before the end; run it again to go on')
  } finally {
    progress.end()
    optOut.close()
    stop.end()
  }
}

/** Goes through all names of a store and forgets those that are opted out, until a signal comes. */
async function forgetMatching(
  { schedule, observations: frontier }: Pick<Store, 'schedule' | 'observations'>,
  optOut: Pick<OptOutList, 'hasName'>,
  signal: AbortSignal,
  show: (checked: number, share: number) => void,
): Promise<{ seen: number; forgotten: number }> {
  let seen = 0
  let forgotten = 0
  let after: DomainName | null = null
  do {
    const names: DomainName[] = await schedule.names(after, FORGET_BATCH_NAMES)
    for (const name of names) {
      if (signal.aborted) break
      if (optOut.hasName(name) && (await frontier.forget(name))) forgotten++
      seen++
    }
    after = names.at(-1) ?? null
    if (after !== null) show(seen, slotOf(after) / SLOT_COUNT)
  } while (after !== null && !signal.aborted)
  return { seen, forgotten }
}

function parseNameArgument(text: string): DomainName {
  const name = parseName(text)
  if (name === null) throw new UsageFault(`${JSON.stringify(text)}: ${nameProblem(text)}`)
  return name
}
