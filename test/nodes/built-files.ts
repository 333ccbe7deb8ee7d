/** The files that the simulated nights build: a shared folder without bytes, and the steps that publish there. */

import { type RandomSource, randomInt } from '../../bench/world/random.ts'
import { type FileKind, type FileManifest, fileName } from '../../src/jobs/file-store/file-store.ts'
import type { JobLock } from '../../src/jobs/job-lock.ts'
import type { JobStep } from '../../src/jobs/job-plan.ts'
import { LOCK_OF_JOB, type StepOutcome } from '../../src/jobs/job-scheduler.ts'
import type { JobDependencies } from '../../src/jobs/steps.ts'
import type { LockName } from '../../src/store/port/jobs.ts'
import type { Store } from '../../src/store/port/store.ts'
import { addDays, type Day, dayOf, type Instant, startOfDay } from '../../src/values/time.ts'
import { CRAWLED_NAMES } from './crawled-names.ts'
import type { SimulatedNode } from './simulated-node.ts'

/** When the nightly jobs begin, in seconds after midnight. */
export const ROUND_SECONDS = 60
/** The days of the lists, relative to the day on which a history starts. Two of them have a follow-up file to build. */
const LISTED_DAYS = [-8, -7, -1, 0]
/** Names per list. They are those that the crawlers know. */
const NAMES_PER_LIST = 20
/** A build works in pieces of up to this time. */
const PIECES = 3
const MAX_PIECE_MS = 20_000

type Published = { kind: FileKind; date: Day; generated: Instant }

export class BuiltFiles {
  readonly published: Published[] = []
  readonly violations: string[] = []
  readonly #days: { day: Day; changed: Instant }[]

  /** `start`: when the history starts, just before midnight. */
  constructor(start: Instant) {
    this.#days = LISTED_DAYS.map((days) => {
      const day = addDays(dayOf(start), days)
      return { day, changed: startOfDay(addDays(day, 1)) + 1 }
    })
  }

  get registrations(): JobDependencies['registrations'] {
    return { days: async () => this.#days } as JobDependencies['registrations']
  }

  get fileStore(): JobDependencies['fileStore'] {
    const list = async (kind: FileKind): Promise<FileManifest[]> =>
      this.published.filter((each) => each.kind === kind).map(manifestOf)
    return { list } as JobDependencies['fileStore']
  }

  /** `isLocked`: whether the process still has the lock of the job. */
  publish(file: Published, isLocked: boolean): void {
    const isThere = this.published.some(({ kind, date }) => kind === file.kind && date === file.date)
    if (isThere) this.violations.push(`${file.kind} ${file.date} was built twice`)
    if (!isLocked) this.violations.push(`${file.kind} ${file.date} was published without the lock`)
    this.published.push(file)
  }
}

const manifestOf = ({ kind, date, generated }: Published): FileManifest =>
  ({ kind, date, generated, name: fileName(kind, date), held: null, rows: NAMES_PER_LIST }) as unknown as FileManifest

type Builder = {
  node: SimulatedNode
  store: Store
  files: BuiltFiles
  random: RandomSource
  isLocked(lock: LockName): boolean
}

/** Does what a step does to the store and to the files, in the same order, without the bytes. */
export async function buildStep({ job, date }: JobStep, lock: JobLock, builder: Builder): Promise<StepOutcome> {
  const { node, store, files, random } = builder
  const names = CRAWLED_NAMES.slice(0, NAMES_PER_LIST)
  const generated = await store.now()
  for (let piece = 0; piece < PIECES; piece++) {
    await store.observations.crawlStates(names)
    await node.clock.wait(randomInt(random, MAX_PIECE_MS), lock.signal)
    lock.signal.throwIfAborted()
  }
  if (job === 'request-7' || job === 'request-30') await store.crawlRequests.add('followup', names)
  else if (job !== 'inbox' && job !== 'snapshot' && job !== 'prune') {
    await lock.requireHeld()
    files.publish({ kind: job, date: date!, generated }, builder.isLocked(LOCK_OF_JOB[job]))
    if (job !== 'daily') await store.crawlRequests.complete('followup', names)
  }
  return { rows: names.length }
}
