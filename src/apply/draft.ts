/** The draft: what is known of one name while observations are applied to it, and the change that results. Pure. */

import type { SetChange } from '../inverse/entries/record-events.ts'
import type { PageTerms } from '../similar/text/terms.ts'
import type { Certificate } from '../values/certificate/certificate.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { RecordType } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import type { Change, Interruption, SupersededState, Transition } from './change.ts'
import { type CrawlState, type CurrentFacts, NO_FACTS } from './crawl-state.ts'
import { DEFAULT_PROBE_INTERVALS, type ProbeIntervals, type ProbePlan } from './next-probe.ts'

/** The state of a name while observations are applied to it, one after another. */
export type ObservationDraft = {
  state: CrawlState
  clocks: Instant[]
  dnsFingerprint: number
  webFingerprint: number
  before: CurrentFacts
  current: CurrentFacts
  superseded: SupersededState[]
  interruptions: (Interruption & { type: RecordType })[]
  firstSeen: { address: IpAddress; since: Instant }[]
  terms: PageTerms | null | undefined
  setChanges: SetChange[]
  transitions: Transition[]
  certificates: Certificate[]
  touched: boolean
  /** When the name is due, after the observations applied so far. */
  plan: ProbePlan
  intervals: ProbeIntervals
}

/** Starts from the known state. `current` may be NO_FACTS if `differs` is false for every observation to apply. */
export function startDraft(
  state: CrawlState,
  current: CurrentFacts = NO_FACTS,
  intervals: ProbeIntervals = DEFAULT_PROBE_INTERVALS,
): ObservationDraft {
  return {
    state,
    clocks: [...state.clocks],
    dnsFingerprint: state.dnsFingerprint,
    webFingerprint: state.webFingerprint,
    before: current,
    current,
    superseded: [],
    interruptions: [],
    firstSeen: [],
    terms: undefined,
    setChanges: [],
    transitions: [],
    certificates: [],
    touched: false,
    plan: state,
    intervals,
  }
}

/** Returns what must be written, or null if nothing must. */
export function changeOf(draft: ObservationDraft): Change | null {
  if (!draft.touched) return null
  const { clocks, dnsFingerprint, webFingerprint, before, current } = draft
  const { due, failures } = draft.plan
  const state = { ...draft.state, clocks, dnsFingerprint, webFingerprint, due, failures }
  if (current === before && draft.interruptions.length === 0) return { state, facts: null }
  return {
    state,
    facts: {
      current,
      superseded: draft.superseded,
      interruptions: draft.interruptions,
      firstSeen: draft.firstSeen,
      arrived: current.addresses.filter((address) => !before.addresses.includes(address)),
      left: before.addresses.filter((address) => !current.addresses.includes(address)),
      redirectBefore: before.web?.redirects_to ?? null,
      redirectAfter: current.web?.redirects_to ?? null,
      terms: draft.terms,
      certificates: draft.certificates,
      setChanges: draft.setChanges,
      transitions: draft.transitions,
    },
  }
}
