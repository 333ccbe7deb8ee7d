/** The watch over outcomes: slice by slice, whether what visits come to is to be believed, and when a change is accepted. Pure. */

import type { Outcomes } from '../store/schedule.ts'
import type { Instant } from '../words/time.ts'
import { add, blocksOf, type Counts, isEnough, LEAST_VISITS, whyOutside } from './bands.ts'
import type { Past } from './past.ts'

/**
 * Why slices are thrown away, of which kind, since when, and the last of those that were tried since. `again`: when the
 * next one is tried, `pause` seconds after the one before.
 */
export type Doubt = {
  why: string
  kind: string
  since: Instant
  again: Instant
  pause: number
  trials: readonly (readonly Outcomes[])[]
}

/**
 * What is kept from slice to slice. `latest`: slices that were believed, the newest first. `accepted`: outcomes of
 * trials that count as part of the week though no slice of theirs was saved.
 */
export type Watch = {
  latest: readonly (readonly Outcomes[])[]
  doubt: Doubt | null
  accepted: readonly Outcomes[]
}

/** `why`: the slice is to be thrown away; null: it is to be saved. `news`: what an operator is to be told, once; else null. */
export type Judgement = { watch: Watch; why: string | null; news: string | null }

export const NEW_WATCH: Watch = { latest: [], doubt: null, accepted: [] }

/** Blocks of the history of each kind that has enough of one. */
type Known = ReadonlyMap<string, readonly Counts[]>

const NEW: Past = 'new'
const WEEK = 604_800
const DAY = 86_400
/** Outcomes of so many seconds are no history yet: what goes wrong now must not judge itself. */
const RECENT = 10_800
/** Visits of names that are not new, of all kinds, that are looked back on. */
const WINDOW = 2_000
/** Seconds until the first trial, doubled at each, and at most. */
const PAUSE = 300
const PAUSE_MOST = 3_600
/** A change is accepted after so many trials that agree, over so many seconds; after so many more they need not agree. */
const TRIALS = 12
const STEADY = 43_200
const LONGEST = 172_800
/** Nats by which a trial must not lie outside where the doubt is to end, and by which trials that agree may differ. */
const PLAIN = 3
const ALIKE = 6

/**
 * Judges a slice before it is saved, where control questions were answered well just now. `week`: the outcomes that were
 * saved, of the last seven days. During a doubt every slice is thrown away; of those that come after `again` one within the
 * bands ends it, and in the end the change is accepted.
 */
export function judgeSlice(
  watch: Watch,
  slice: readonly Outcomes[],
  week: readonly Outcomes[],
  now: Instant,
): Judgement {
  const accepted = watch.accepted.filter(({ hour }) => hour > now - WEEK)
  const history = week.filter(({ hour }) => hour > now - WEEK && hour <= now - RECENT)
  const known = knownOf(history, accepted)
  if (watch.doubt !== null) return judgeTrial({ ...watch, accepted }, watch.doubt, slice, known, now)
  const latest = windowOf([slice, ...watch.latest], now)
  for (const { kind } of slice) {
    const why = whyAnyOutside(
      latest.flat().filter((row) => row.kind === kind),
      known.get(kind) ?? [],
    )
    if (why === null) continue
    const doubt: Doubt = { why, kind, since: now, again: now + PAUSE, pause: PAUSE, trials: [] }
    return { watch: { latest: [], doubt, accepted }, why, news: `nothing is saved for now: ${why}` }
  }
  return { watch: { latest, doubt: null, accepted }, why: null, news: null }
}

/** A slice that comes before its time is thrown away without counting. */
function judgeTrial(watch: Watch, doubt: Doubt, slice: readonly Outcomes[], known: Known, now: Instant): Judgement {
  if (now < doubt.again) return { watch, why: doubt.why, news: null }
  const all = [...doubt.trials, slice]
  if (isOver(doubt.kind, all, known)) {
    return { watch: { ...watch, doubt: null }, why: null, news: 'visits come again to what the week came to' }
  }
  const trials = all.slice(-TRIALS)
  const age = now - doubt.since
  if (trials.length === TRIALS && (age >= LONGEST || (age >= STEADY && agree(trials)))) {
    const accepted = [...watch.accepted, ...trials.flat()]
    return { watch: { ...watch, doubt: null, accepted }, why: null, news: `accepted, as it lasts: ${doubt.why}` }
  }
  const pause = Math.min(PAUSE_MOST, 2 * doubt.pause)
  return { watch: { ...watch, doubt: { ...doubt, trials, pause, again: now + pause } }, why: doubt.why, news: null }
}

/** Whether the last trial lies within the bands, and the last ones that hold enough of the kind that was in doubt. */
function isOver(kind: string, trials: readonly (readonly Outcomes[])[], known: Known): boolean {
  const counts = countsByKind(trials.slice(-1))
  for (let last = 2; last <= trials.length && (counts.get(kind)?.visits ?? 0) < LEAST_VISITS; last++) {
    const more = countsByKind(trials.slice(-last)).get(kind)
    if (more !== undefined) counts.set(kind, more)
  }
  if ((counts.get(kind)?.visits ?? 0) < LEAST_VISITS) return false
  const isWithin = (each: Counts): boolean =>
    whyOutside(each, known.get(each.kind) ?? [], { nats: PLAIN, floor: 0 }) === null
  return [...counts.values()].every(isWithin)
}

/** Whether the later half of trials came to what the earlier half came to. */
function agree(trials: readonly (readonly Outcomes[])[]): boolean {
  const earlier = countsByKind(trials.slice(0, trials.length / 2))
  const later = countsByKind(trials.slice(trials.length / 2))
  return [...later.values()].every((counts) => {
    const before = earlier.get(counts.kind)
    return before === undefined || isAlike(counts, before)
  })
}

function isAlike(one: Counts, other: Counts): boolean {
  const isAbove = (a: Counts, b: Counts): boolean => whyOutside(a, [b], { nats: ALIKE }) !== null
  return !isAbove(one, other) && !isAbove(other, one)
}

function knownOf(history: readonly Outcomes[], accepted: readonly Outcomes[]): Known {
  const more = Map.groupBy(blocksOf(accepted, LEAST_VISITS), ({ kind }) => kind)
  const blocks = [...Map.groupBy(blocksOf(history), ({ kind }) => kind)].filter(([, each]) => isEnough(each))
  return new Map(blocks.map(([kind, each]) => [kind, [...each, ...(more.get(kind) ?? [])]]))
}

/** The newest slice in any case, and others as far back as the window goes, a day at most. */
function windowOf(slices: Watch['latest'], now: Instant): Watch['latest'] {
  let visits = 0
  return slices.filter((slice, place) => {
    for (const row of slice) if (row.kind !== NEW) visits += row.visits
    return place === 0 || (visits <= WINDOW && slice.every(({ hour }) => hour > now - DAY))
  })
}

/** The newest slice is judged, and those before it together with it, so that neither a sudden nor a slow change is missed. */
function whyAnyOutside(rows: readonly Outcomes[], blocks: readonly Counts[]): string | null {
  let sum: Counts | null = null
  for (const row of rows) {
    sum = sum === null ? row : add(sum, row)
    const why = whyOutside(sum, blocks)
    if (why !== null) return why
  }
  return null
}

function countsByKind(slices: readonly (readonly Outcomes[])[]): Map<string, Counts> {
  const sums = new Map<string, Counts>()
  for (const row of slices.flat()) {
    const sum = sums.get(row.kind)
    sums.set(row.kind, sum === undefined ? row : add(sum, row))
  }
  return sums
}
