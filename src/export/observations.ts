/** Turns what is known about a name into observations from which an import restores it. */

import type { Clocks, CurrentFacts } from '../apply/crawl-state.ts'
import { CLOCK_INDEX } from '../apply/stored-numbers.ts'
import type { DnsPart, DnsStatus, Observation, WebPart } from '../observe/observation.ts'
import { RECORD_TYPES, type RecordsByType } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import type { RecordState } from './cof.ts'
import type { NameHistory } from './name-history.ts'

/**
 * The observations in the order in which an import must read them: one for each time at which a state began, and one for
 * each time at which a type, the status or the web was observed last. A failure comes before records of the same time,
 * because the first status of a time counts. `at`: the time of the only observation of a name that was never probed.
 * The text of a start page is not stored, so it is missing.
 */
export function historyObservations({ name, clocks, facts, states }: NameHistory, at: Instant): Observation[] {
  const records = recordsByTime(clocks, states)
  const statusClock = clocks[CLOCK_INDEX.status]!
  const webClock = clocks[CLOCK_INDEX.web]!
  const failures = new Map<Instant, DnsStatus>()
  if (statusClock > 0 && facts.status === 'ok') records.set(statusClock, records.get(statusClock) ?? {})
  if (statusClock > 0 && facts.status !== 'ok') failures.set(statusClock, facts.status!)
  if (wasAbsentBefore(clocks, facts)) failures.set(Math.min(...records.keys()) - 1, 'nxdomain')
  const times = new Set([...records.keys(), ...failures.keys(), ...(webClock > 0 ? [webClock] : [])])
  if (times.size === 0) return [{ domain: name, observed_at: at, dns: null, web: null }]
  return [...times]
    .sort((a, b) => a - b)
    .flatMap((time): Observation[] => {
      const [failure, found] = [failures.get(time), records.get(time)]
      const parts: (DnsPart | null)[] = []
      if (failure !== undefined) parts.push({ status: failure, records: {} })
      if (found !== undefined) parts.push({ status: 'ok', records: found })
      if (parts.length === 0) parts.push(null)
      const web = time === webClock ? webPartOf(facts) : null
      return parts.map((dns, index) => ({ domain: name, observed_at: time, dns, web: index === 0 ? web : null }))
    })
}

/** The records that were seen at each time: those of a new state, and those of the last observation of a type. */
function recordsByTime(clocks: Clocks, states: NameHistory['states']): Map<Instant, Partial<RecordsByType>> {
  const found = new Map<Instant, Partial<RecordsByType>>()
  for (const type of RECORD_TYPES) {
    const add = (time: Instant, records: RecordState['records']): void => {
      found.set(time, { ...found.get(time), [type]: records })
    }
    for (const { first_seen, records } of states[type]) add(first_seen, records)
    const clock = clocks[CLOCK_INDEX[type]]!
    if (clock > 0) add(clock, states[type][0]?.records ?? [])
  }
  return found
}

/**
 * Whether the name was absent or failed before it was ok, and its addresses were never queried. Only then is `ip` known
 * without a clock of A or AAAA.
 */
function wasAbsentBefore(clocks: Clocks, { status, ip }: CurrentFacts): boolean {
  return status === 'ok' && ip !== null && clocks[CLOCK_INDEX.A] === 0 && clocks[CLOCK_INDEX.AAAA] === 0
}

function webPartOf({ web }: CurrentFacts): WebPart {
  const { social_networks: _derived, digest: _ofText, ...verdict } = web!
  return { ...verdict, text: null }
}
