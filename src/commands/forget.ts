/** `domaindex forget`: removes all that is known of names, and keeps them from coming back. */

import type { Command } from 'commander'
import type { OptOut } from '../crawl/opt-out.ts'
import type { Store } from '../store/store.ts'
import { type Name, parseName, slotOf, whyNotName } from '../words/name.ts'
import { optOutOf } from './crawl/eyes.ts'
import { CommandFault, UsageFault } from './fault.ts'
import { progressOf } from './progress.ts'
import { print } from './result.ts'
import { listenForStop } from './stop.ts'
import { settingsOfStore, withStore } from './store.ts'

const HELP = `
--opted-out goes through the whole store and forgets what the list of DOMAINDEX_CRAWL_OPT_OUT names, suffixes included. What is
stored of names on addresses of its ranges stays. Ctrl-C stops it; run again, it goes on with what is left.

What imports and crawls bring of a forgotten name later is dropped. Backups made before still hold it.`

/** Names read at once. */
const PAGE = 5_000
const SLOTS = 65_536

export function define(command: Command): void {
  command
    .argument('[name...]', 'the names')
    .option('--opted-out', 'forget all names that are on the opt-out list')
    .option('--json', 'print one JSON object: names (name, known); with --opted-out: seen, forgotten')
    .addHelpText('after', HELP)
    .action(async (given: string[], { optedOut, json }: { optedOut?: true; json?: true }) => {
      if (optedOut && given.length > 0) throw new UsageFault('give either names or --opted-out, not both')
      if (!optedOut && given.length === 0) throw new UsageFault('give the names to forget, or --opted-out')
      await (optedOut ? forgetOptedOut(json) : forgetAll(given.map(readName), json))
    })
}

async function forgetAll(names: readonly Name[], json: true | undefined): Promise<void> {
  await withStore('write', async ({ frontier }) => {
    const done: { name: Name; known: boolean }[] = []
    for (const name of names) {
      const known = await frontier.forget(name)
      done.push({ name, known })
      if (!json) console.log(`${name}: ${known ? 'forgotten' : 'was not known'}`)
    }
    print(json, { names: done }, [])
  })
}

async function forgetOptedOut(json: true | undefined): Promise<void> {
  const settings = await settingsOfStore()
  if (settings.crawlOptOut === null) {
    throw new CommandFault('there is no opt-out list: name its file with DOMAINDEX_CRAWL_OPT_OUT')
  }
  const optOut = optOutOf(settings, (words) => console.error(`domaindex: ${words}`))
  const stop = listenForStop()
  const progress = progressOf('names')
  try {
    const { seen, forgotten } = await withStore('write', (store) => sweep(store, optOut, stop.signal, progress.show))
    progress.end()
    print(json, { seen, forgotten }, [`looked at ${seen} names, forgot ${forgotten}`])
    if (stop.signal.aborted) console.error('stopped before the end; run it again to go on')
  } finally {
    progress.end()
    optOut.close()
    stop.end()
  }
}

/** Goes through all names of a store and forgets those that are opted out, until a signal comes. */
async function sweep(
  { schedule, frontier }: Pick<Store, 'schedule' | 'frontier'>,
  optOut: Pick<OptOut, 'hasName'>,
  signal: AbortSignal,
  show: (seen: number, share: number) => void,
): Promise<{ seen: number; forgotten: number }> {
  let seen = 0
  let forgotten = 0
  let after: Name | null = null
  do {
    const names: Name[] = await schedule.names(after, PAGE)
    for (const name of names) {
      if (signal.aborted) break
      if (optOut.hasName(name) && (await frontier.forget(name))) forgotten++
      seen++
    }
    after = names.at(-1) ?? null
    if (after !== null) show(seen, slotOf(after) / SLOTS)
  } while (after !== null && !signal.aborted)
  return { seen, forgotten }
}

function readName(text: string): Name {
  const name = parseName(text)
  if (name === null) throw new UsageFault(`${JSON.stringify(text)}: ${whyNotName(text)}`)
  return name
}
