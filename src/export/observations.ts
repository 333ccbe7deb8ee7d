/** Turns what is known about a name into observations from which an import restores it. */

import type { CurrentFacts } from '../apply/crawl-state.ts'
import { CLOCK_INDEX } from '../apply/stored-numbers.ts'
import type { DnsPart, Observation, WebPart } from '../observe/observation.ts'
import { RECORD_TYPES, type RecordsByType } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import type { NameHistory } from './name-history.ts'

/**
 * The observations in the order of their times: one for each time at which a state began, and one for each time at
 * which a type, the status or the web was observed last. `at`: the time of the only observation of a name that was
 * never probed. The text of a start page is not stored, so it is missing.
 */
export function historyObservations({ name, clocks, facts, states }: NameHistory, at: Instant): Observation[] {
  const parts = new Map<Instant, { dns: DnsPart | null; web: WebPart | null }>()
  const partAt = (time: Instant) => {
    const part = parts.get(time) ?? { dns: null, web: null }
    parts.set(time, part)
    return part
  }
  const addRecords = (time: Instant, records: Partial<RecordsByType>): void => {
    const part = partAt(time)
    part.dns = { status: 'ok', records: { ...part.dns?.records, ...records } }
  }
  for (const type of RECORD_TYPES) {
    for (const { first_seen, records } of states[type]) addRecords(first_seen, { [type]: records })
    const [newest] = states[type]
    const clock = clocks[CLOCK_INDEX[type]]!
    if (clock > 0) addRecords(clock, { [type]: newest?.records ?? [] })
  }
  const statusClock = clocks[CLOCK_INDEX.status]!
  if (statusClock > 0) {
    const part = partAt(statusClock)
    part.dns =
      facts.status === 'ok' ? (part.dns ?? { status: 'ok', records: {} }) : { status: facts.status!, records: {} }
  }
  const webClock = clocks[CLOCK_INDEX.web]!
  if (webClock > 0) partAt(webClock).web = webPartOf(facts)
  if (parts.size === 0) return [{ domain: name, observed_at: at, dns: null, web: null }]
  return [...parts]
    .sort(([a], [b]) => a - b)
    .map(([observed_at, { dns, web }]) => ({ domain: name, observed_at, dns, web }))
}

function webPartOf({ web }: CurrentFacts): WebPart {
  const { social_networks: _derived, digest: _ofText, ...verdict } = web!
  return { ...verdict, text: null }
}
