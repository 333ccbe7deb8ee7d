/** Exports what the store knows about all names, in the order of the names. */

import { setImmediate } from 'node:timers/promises'
import type { Clocks, CurrentFacts } from '../apply/crawl-state.ts'
import { CLOCK_INDEX } from '../apply/stored-numbers.ts'
import type { DnsPart, DnsStatus, Observation } from '../observe/observation.ts'
import { writeObservation } from '../observe/observation-writer.ts'
import type { NameListing } from '../store/port/listing.ts'
import type { Store } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'
import { RECORD_TYPES, type RecordType } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import { cofLines, type RecordState } from './cof.ts'
import { type NameHistory, readNameHistories } from './name-history.ts'

export const LINE_FORMATS = ['observations', 'cof'] as const
export type LineFormat = (typeof LINE_FORMATS)[number]

/** The lines of a name. `startedAt`: when the export started. */
const LINES_OF: Readonly<Record<LineFormat, (history: NameHistory, startedAt: Instant) => string[]>> = {
  observations: (history, startedAt) => historyObservations(history, startedAt).map(writeObservation),
  cof: ({ name, timelines }) => RECORD_TYPES.flatMap((type) => cofLines(name, type, timelines[type])),
}

/** Names that are read at once. */
const NAMES_PER_READ = 200

/**
 * Yields the histories of all names that are known at the start of the listing, some at a time. Each read is short, so
 * that an export of any length blocks no other process. `onUnread` receives names that could not be read, because they
 * were written during every try. Aborting `signal` stops it with the reason.
 */
export async function* nameHistories(
  store: Pick<Store, 'observations' | 'facts'>,
  listing: NameListing,
  signal: AbortSignal,
  onUnread: (names: readonly DomainName[]) => void,
): AsyncGenerator<NameHistory[]> {
  for await (const { text } of listing.names()) {
    const names = Buffer.from(text).toString('latin1').trimEnd().split('\n') as DomainName[]
    for (let at = 0; at < names.length; at += NAMES_PER_READ) {
      await setImmediate() // a signal and the renewal of the lock need the event loop, for which SQLite never waits
      signal.throwIfAborted()
      const { histories, unread } = await readNameHistories(store, names.slice(at, at + NAMES_PER_READ))
      if (unread.length > 0) onUnread(unread)
      yield histories
    }
  }
}

/** The lines of a name in a format. `startedAt`: when the export started. */
export function linesOfName(format: LineFormat, history: NameHistory, startedAt: Instant): string[] {
  return LINES_OF[format](history, startedAt)
}

/**
 * The observations in the order in which an import must read them: one for each time at which a state began or was last
 * observed, for both ends of each interruption, and for each time at which the status was observed last. A failure
 * comes before records of the same time, because the first status of a time counts. `at`: the time of the only
 * observation of a name that was never probed. The text of a start page is not stored, so it is missing.
 */
function historyObservations(history: NameHistory, at: Instant): Observation[] {
  const { name, clocks, facts } = history
  const records = recordsByTime(history)
  const statusClock = clocks[CLOCK_INDEX.status]!
  const webs = websByTime(history)
  const failures = new Map<Instant, DnsStatus>()
  if (statusClock > 0 && facts.status === 'ok')
    records.set(statusClock, records.get(statusClock) ?? { status: 'ok', records: {} })
  if (statusClock > 0 && facts.status !== 'ok') failures.set(statusClock, facts.status!)
  for (const time of absentTimes(facts)) failures.set(time, 'nxdomain')
  if (wasAbsentBefore(clocks, facts)) failures.set(Math.min(...records.keys()) - 1, 'nxdomain')
  const times = new Set([...records.keys(), ...failures.keys(), ...webs.keys()])
  if (times.size === 0) return [{ domain: name, observed_at: at, dns: null, web: null }]
  return [...times]
    .sort((a, b) => a - b)
    .flatMap((time): Observation[] => {
      const [failure, found] = [failures.get(time), records.get(time)]
      const parts: (DnsPart | null)[] = []
      if (failure !== undefined) parts.push({ status: failure, records: {} })
      if (found !== undefined) parts.push(found)
      if (parts.length === 0) parts.push(null)
      const web = webs.get(time) ?? NO_WEB
      return parts.map((dns, index) => ({ domain: name, observed_at: time, dns, ...(index === 0 ? web : NO_WEB) }))
    })
}

/** What was seen of the types at each time that is stored. */
function recordsByTime({ clocks, timelines }: NameHistory): Map<Instant, DnsPart> {
  const found = new Map<Instant, DnsPart>()
  const add = (time: Instant, type: RecordType, seen: RecordState['records'], isInterrupted = false): void => {
    const { records = {}, interrupted = [] } = found.get(time) ?? {}
    const all = isInterrupted ? [...interrupted, type] : interrupted
    found.set(time, {
      status: 'ok',
      records: { ...records, [type]: seen },
      ...(all.length > 0 && { interrupted: all }),
    })
  }
  for (const type of RECORD_TYPES) {
    const { states, interruptions } = timelines[type]
    const seenAt = (time: Instant): RecordState['records'] =>
      states.find(({ first_seen }) => first_seen <= time)!.records
    for (const { first_seen, last_seen, records } of states)
      for (const time of [first_seen, last_seen]) add(time, type, records)
    const clock = clocks[CLOCK_INDEX[type]]!
    if (clock > 0) add(clock, type, states[0]?.records ?? [])
    for (const { last_seen, seen_again } of interruptions) {
      add(last_seen, type, seenAt(last_seen))
      add(seen_again, type, seenAt(seen_again), true)
    }
  }
  return found
}

/** The known times at which the name did not exist after its records were last observed. */
function absentTimes({ status, states }: CurrentFacts): Instant[] {
  return RECORD_TYPES.flatMap((type) => {
    const absence = states[type]?.absence
    if (absence === undefined) return []
    return status === 'nxdomain' ? [absence.first] : [absence.first, absence.last]
  })
}

/**
 * Whether the name was absent or failed before it was ok, and its addresses were never queried. Only then is `ip` known
 * without a clock of A or AAAA.
 */
function wasAbsentBefore(clocks: Clocks, { status, ip }: CurrentFacts): boolean {
  return status === 'ok' && ip !== null && clocks[CLOCK_INDEX.A] === 0 && clocks[CLOCK_INDEX.AAAA] === 0
}

type SeenWeb = Pick<Observation, 'web' | 'presented'>
const NO_WEB: SeenWeb = { web: null }

/**
 * What was seen of the website at each time that is stored. Only the newest has the social accounts: the store does not
 * keep those of the past. The certificate counts as not looked at where no time of it is stored. One that came late,
 * between the times of two websites, stands alone.
 */
function websByTime({ facts, clocks, websites, certificates }: NameHistory): Map<Instant, SeenWeb> {
  const [clock, certificateClock] = [clocks[CLOCK_INDEX.web]!, clocks[CLOCK_INDEX.certificate]!]
  const { social_networks: _derived, digest: _ofText, ...newest } = { ...facts.web!, text: null }
  const looked = new Set([...boundsOf(certificates), certificateClock])
  const found = new Map<Instant, SeenWeb>()
  for (const time of new Set([...boundsOf(websites), ...looked, clock])) {
    if (time === 0) continue
    const state = stateAt(websites, time)
    const certificate = stateAt(certificates, time)?.certificate ?? null
    const past = state && time <= state.last_seen && { ...state.verdict, social_accounts: [], text: null }
    const web = time === clock ? newest : time < clock && past
    if (web) found.set(time, { web: looked.has(time) ? { ...web, certificate } : web })
    else if (looked.has(time)) found.set(time, { web: null, presented: certificate })
  }
  return found
}

/** The newest of the states that began at a time or before. */
function stateAt<State extends { first_seen: Instant }>(states: readonly State[], time: Instant): State | undefined {
  return states.find(({ first_seen }) => first_seen <= time)
}

function boundsOf(states: readonly { first_seen: Instant; last_seen: Instant }[]): Instant[] {
  return states.flatMap(({ first_seen, last_seen }) => [first_seen, last_seen])
}
