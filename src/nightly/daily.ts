/** The daily file: the names that were registered on one day, sorted bytewise, one a line, each once. */

import type { Frontier } from '../store/store.ts'
import type { Name } from '../words/name.ts'
import { addDays, type Day, type Instant } from '../words/time.ts'
import { type Built, expectRoom, publish, type Run } from './build.ts'
import { Earlier } from './earlier.ts'
import { type Bounds, judge } from './gate.ts'
import { type Description, fileName, type Manifest, type Shelf } from './shelf.ts'
import { type Rows, Tally } from './tally.ts'

export type DailyBuild = {
  shelf: Shelf
  frontier: Pick<Frontier, 'visits'>
  /** The names that were registered on the day, rising bytewise, each once; some thousands at a time. */
  names: AsyncIterable<readonly Name[]>
  /** Null: every day is handed out. */
  bounds: Bounds | null
  /** Hands the day out even though it is out of bounds. */
  release: boolean
  now: Instant
}

/** Bytes that a name takes on the disk while the first files are built: later ones are as large as the one before. */
const FIRST_BYTES = 2 ** 26

/** Days before a day whose files are read, to count which of its names they list too. */
const EARLIER_DAYS = 28

/**
 * Puts the file of a day on the shelf; it stays as it is where the same names are in it. A day out of bounds is held back:
 * it is on the shelf, `held` says why, and nobody gets it. Names that were forgotten are left out.
 */
export async function buildDaily(day: Day, build: DailyBuild, run: Run): Promise<Built> {
  const { shelf, bounds, release, now } = build
  const files = (await shelf.list('daily')).filter(({ held }) => held === null)
  await expectRoom(shelf, `the daily file of ${day}`, Math.max(FIRST_BYTES, ...files.map(({ bytes }) => bytes)))
  const from = addDays(day, -EARLIER_DAYS)
  const earlier = new Earlier(
    shelf,
    files.filter(({ date }) => date >= from && date < day).map(({ name }) => name),
  )
  const tally = new Tally()
  let listed_before = 0
  const rows = rowsOf(build, async (names) => {
    listed_before += await earlier.count(names)
    run.onRows(tally.rows)
  })
  const describe = (): Description => {
    const counts = tally.counts()
    const { ratio, held } = judge(day, counts.rows, files, release ? null : bounds)
    return { generated: now, ...counts, ratio, listed_before, held }
  }
  try {
    return await publish(shelf, fileName('daily', day), tally.content('', rows), { describe, isSame }, run)
  } finally {
    await earlier.close()
  }
}

/** What was released stays so; what is held back goes out once nothing speaks against it. */
function isSame(former: Manifest, now: Description): boolean {
  return former.held === null || now.held !== null
}

async function* rowsOf(
  { names, frontier }: DailyBuild,
  onNames: (names: readonly Name[]) => Promise<void>,
): AsyncGenerator<Rows> {
  for await (const batch of names) {
    const visits = await frontier.visits(batch)
    const kept = batch.filter((_, place) => !visits[place]!.forgotten)
    await onNames(kept)
    if (kept.length > 0) yield { text: `${kept.join('\n')}\n`, names: kept }
  }
}
