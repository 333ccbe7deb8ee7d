/** What the nights go by, and how each step of theirs is done: the plan's words on one side, the builders on the other. */

import { RUN_SECONDS } from '../store/jobs.ts'
import type { Store } from '../store/store.ts'
import type { Day, Instant } from '../words/time.ts'
import type { Run } from './build.ts'
import { buildDaily } from './daily.ts'
import type { InHand } from './duty.ts'
import { buildFollowup, type Followup, queueFollowup } from './followup.ts'
import type { Bounds } from './gate.ts'
import type { Outcome } from './night.ts'
import type { Known, Step } from './plan.ts'
import type { Registrations } from './registrations/registrations.ts'
import { FILE_KINDS, type FileKind, type Manifest, type Shelf } from './shelf.ts'

/** All that the files of the nights are made with. */
export type Works = {
  store: Store
  shelf: Shelf
  /** Where the names of each day come from. */
  sources: Pick<Registrations, 'days' | 'registered'>
  /** Null: every day is handed out. */
  bounds: Bounds | null
  /** Of the packing. */
  threads: number
  /** Brings in what lies in the inbox. */
  takeInbox(run: Run): Promise<Outcome>
  /** When files that it left are to be looked at again; null where it left none. */
  inboxAgain(): Instant | null
  /** What builds wait for where a disk has too little room; without, they do not. */
  room?: Run['room']
  /** Builds the snapshots. */
  buildSnapshots(run: Run): Promise<Outcome>
}

type Told = Pick<Run, 'onRows'> & { release?: boolean }

/** What a plan goes by, but for what the settings say. */
export async function lookAround({
  store,
  shelf,
  sources,
  inboxAgain,
}: Pick<Works, 'store' | 'shelf' | 'sources' | 'inboxAgain'>): Promise<Omit<Known, 'times' | 'cutoff'>> {
  const now = await store.now()
  const days = await sources.days()
  const crawlers = await store.schedule.crawlers()
  const wanted = crawlers.length === 0 ? 0 : await store.wishes.count('followup')
  const files = {} as Record<FileKind, Manifest[]>
  for (const kind of FILE_KINDS) files[kind] = await shelf.list(kind)
  return {
    now,
    days,
    files,
    runs: await store.jobs.runs(now - RUN_SECONDS),
    crawl: { lives: crawlers.length > 0, wanted },
    inboxAgain: inboxAgain(),
  }
}

/** Does one step. */
export async function doStep(works: Works, { job, date }: Step, hand: InHand, told: Told): Promise<Outcome> {
  const run: Run = { ...hand, ...told, threads: works.threads, room: works.room }
  await works.room?.wait(hand.signal)
  switch (job) {
    case 'inbox':
      return works.takeInbox(run)
    case 'snapshot':
      return works.buildSnapshots(run)
    case 'daily':
      return makeDaily(works, date!, run, told.release ?? false)
    case 'queue-7':
    case 'queue-30':
      return { rows: await queueFollowup(date!, { shelf: works.shelf, wishes: works.store.wishes }, run) }
    case 'followup-7':
    case 'followup-30':
      return makeFollowup(works, date!, job === 'followup-7' ? 7 : 30, run)
  }
}

async function makeDaily(
  { store, shelf, sources, bounds }: Works,
  day: Day,
  run: Run,
  release: boolean,
): Promise<Outcome> {
  const names = sources.registered(day)
  const build = { shelf, frontier: store.frontier, names, bounds, release, now: await store.now() }
  const { manifest, isNew } = await buildDaily(day, build, run)
  const { rows, held } = manifest
  if (held !== null)
    return {
      rows,
      held: true,
      words: `${day} is held back: ${held}. If that is right: domaindex build daily --date ${day} --release`,
    }
  return { rows, words: isNew ? null : `${day} is as it was` }
}

async function makeFollowup({ store, shelf }: Works, day: Day, after: Followup, run: Run): Promise<Outcome> {
  const { frontier, wishes } = store
  const { manifest } = await buildFollowup(day, after, { shelf, frontier, wishes, now: await store.now() }, run)
  return { rows: manifest.rows, words: null }
}
