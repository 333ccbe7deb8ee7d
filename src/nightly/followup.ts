/** Follow-up files: what became of the names of a day 7 or 30 days later, as it is known when the file is written. */

import type { Frontier } from '../store/store.ts'
import type { Wishes } from '../store/wishes.ts'
import type { Name } from '../words/name.ts'
import type { Day, Instant } from '../words/time.ts'
import { type Built, expectRoom, publish, type Run } from './build.ts'
import { FOLLOWUP_HEADER, followupRow } from './columns.ts'
import { BuildFault } from './fault.ts'
import { namesOf } from './names.ts'
import { type Description, type FileName, fileName, type Opened, type Shelf } from './shelf.ts'
import { type Rows, Tally } from './tally.ts'

/** Days after registration at which a follow-up file is made. */
export const FOLLOWUPS = [7, 30] as const
export type Followup = (typeof FOLLOWUPS)[number]

export type FollowupBuild = {
  shelf: Shelf
  frontier: Pick<Frontier, 'visits' | 'currents'>
  wishes: Pick<Wishes, 'fulfil'>
  now: Instant
}

/** Seconds after which facts count as old. */
const OLD = 86_400
/** Bytes of a row on the disk, at most in most files, to a name of the daily file. */
const ROW_BYTES = 100
/** Names whose facts are read at once. */
const BATCH = 1_000

/** Wants the names of a day's file from the crawler; how many they are. */
export async function queueFollowup(
  day: Day,
  { shelf, wishes }: { shelf: Shelf; wishes: Pick<Wishes, 'want'> },
  { signal, onRows }: Pick<Run, 'signal' | 'onRows'>,
): Promise<number> {
  let queued = 0
  for await (const names of batchesOf(await openDay(shelf, day))) {
    signal.throwIfAborted()
    await wishes.want('followup', names)
    queued += names.length
    onRows(queued)
  }
  return queued
}

/**
 * Puts the follow-up file of a day on the shelf, from the facts that are known now; names that were forgotten are left out.
 * What the crawler has not visited of it by now is no longer wanted. Throws BuildFault where the day has no file that is handed out.
 */
export async function buildFollowup(day: Day, after: Followup, build: FollowupBuild, run: Run): Promise<Built> {
  const opened = await openDay(build.shelf, day)
  try {
    await expectRoom(build.shelf, `the follow-up file of ${day}`, ROW_BYTES * opened.manifest.rows)
    return await publishRows(fileName(`followup-${after}`, day), opened, build, run)
  } finally {
    await opened.close()
  }
}

function publishRows(name: FileName, opened: Opened, build: FollowupBuild, run: Run): Promise<Built> {
  const { shelf, now } = build
  const tally = new Tally()
  let older_than_24h = 0
  const rows = rowsOf(build, opened, (clocks) => {
    older_than_24h += clocks.filter((clock) => now - clock > OLD).length
    run.onRows(tally.rows)
  })
  const describe = (): Description => ({ generated: now, ...tally.counts(), older_than_24h, held: null })
  const isSame = (): boolean => false // that nothing has changed since is told by when it was made
  return publish(shelf, name, tally.content(FOLLOWUP_HEADER, rows), { describe, isSame }, run)
}

/** `onClocks` is told when each name was last looked at; 0 for never. */
async function* rowsOf(
  { frontier, wishes }: FollowupBuild,
  opened: Opened,
  onClocks: (clocks: readonly Instant[]) => void,
): AsyncGenerator<Rows> {
  for await (const names of batchesOf(opened)) {
    const [visits, currents] = await Promise.all([frontier.visits(names), frontier.currents(names)])
    const there = [...names.keys()].filter((place) => !visits[place]!.forgotten)
    const text = there.map((place) => followupRow(names[place]!, currents[place]!)).join('')
    onClocks(there.map((place) => Math.max(...visits[place]!.clocks)))
    yield { text, names: there.map((place) => names[place]!) }
    await wishes.fulfil('followup', names)
  }
}

async function* batchesOf(opened: Opened): AsyncGenerator<Name[]> {
  for await (const names of namesOf(opened))
    for (let at = 0; at < names.length; at += BATCH) yield names.slice(at, at + BATCH)
}

async function openDay(shelf: Shelf, day: Day): Promise<Opened> {
  const opened = await shelf.open(fileName('daily', day))
  const held = opened?.manifest.held ?? null
  if (opened !== null && held === null) return opened
  await opened?.close()
  if (opened === null) throw new BuildFault(`there is no daily file of ${day}: build it first`)
  throw new BuildFault(`the daily file of ${day} is held back (${held}): release it first`)
}
