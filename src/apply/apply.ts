/** Applies observations of one name to its known state: known + Observation -> Change. Pure. */

import type { Ssl } from '../observe/observation.ts'
import { type PageTerms, termsOf } from '../similar/text/terms.ts'
import { compareAddresses, type IpAddress } from '../values/ip-address.ts'
import { RECORD_TYPES, type RecordType } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import type { Change, SupersededState } from './change.ts'
import { type CrawlState, type CurrentFacts, type DnsState, NO_FACTS, NO_WEBSITE } from './crawl-state.ts'
import { addressesOfRecords, countAfterState, differsInSerialOnly, supersededState } from './dns-state.ts'
import { DEFAULT_PROBE_INTERVALS, type ProbeIntervals, type ProbePlan, planAfterObservation } from './next-probe.ts'
import { type PreparedObservation, parsePreparedDns, parsePreparedWeb, queriedRecordTypes } from './prepare.ts'
import { ipStatusOf, isOnlyDns } from './resolution.ts'
import { CLOCK_INDEX } from './stored-numbers.ts'
import { isSameWebsite, websiteFromPart } from './web-facts.ts'

/** `applied`: a fact changed, or the name is new. `unchanged`: confirmed. `stale`: no part was newer than its clock. */
export type ApplyOutcome = 'applied' | 'unchanged' | 'stale'

/** The state of a name while observations are applied to it, one after another. */
export type ObservationDraft = {
  state: CrawlState
  clocks: Instant[]
  dnsFingerprint: number
  webFingerprint: number
  before: CurrentFacts
  current: CurrentFacts
  superseded: SupersededState[]
  firstSeen: { address: IpAddress; since: Instant }[]
  terms: PageTerms | null | undefined
  touched: boolean
  /** When the name is due, after the observations applied so far. */
  plan: ProbePlan
  intervals: ProbeIntervals
}

/** Returns true if the current facts are needed, and false if the fingerprints show that nothing changed. */
export function differs(state: CrawlState, { dnsFingerprint, webFingerprint }: PreparedObservation): boolean {
  if (state.forgotten) return false
  return (
    (dnsFingerprint !== 0 && dnsFingerprint !== state.dnsFingerprint) ||
    (webFingerprint !== 0 && webFingerprint !== state.webFingerprint)
  )
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
    firstSeen: [],
    terms: undefined,
    touched: false,
    plan: state,
    intervals,
  }
}

/**
 * Applies one observation. A part that is not newer than its clock changes nothing. A forgotten name stays as it is.
 */
export function applyObservation(draft: ObservationDraft, prepared: PreparedObservation): ApplyOutcome {
  if (draft.state.forgotten) return 'stale'
  const isNew = draft.state.version === 0 && !draft.touched
  const before = draft.current
  const clocks = [...draft.clocks]
  const newer = [applyDns(draft, prepared), applyWeb(draft, prepared)].includes(true)
  if (newer || isNew) draft.touched = true
  if (newer) planNextProbe(draft, prepared, before, clocks)
  if (isNew || draft.current !== before) return 'applied'
  return newer ? 'unchanged' : 'stale'
}

/** An observation that is older than the newest applied one leaves the plan as it is. */
function planNextProbe(
  draft: ObservationDraft,
  { observed_at: at, dnsFingerprint, isOk }: PreparedObservation,
  before: CurrentFacts,
  clocks: readonly Instant[],
): void {
  const newest = Math.max(...clocks)
  if (at <= newest) return
  const failing = dnsFingerprint === 0 ? draft.plan.failures > 0 : !isOk
  const changed = draft.current !== before && isSignificantChange(before, draft.current, clocks)
  draft.plan = planAfterObservation(
    { ...draft.state, ...draft.plan },
    newest,
    { at, changed, failing },
    draft.intervals,
  )
}

/**
 * Returns whether the difference justifies an earlier probe. The SOA, the text and the redirect host do not count. A
 * change of an address set does not count if that set also changed at the probe before.
 */
function isSignificantChange(before: CurrentFacts, after: CurrentFacts, clocks: readonly Instant[]): boolean {
  if (before.status !== after.status || !isSameWebsite(before.web, after.web)) return true
  return RECORD_TYPES.some((type) => {
    const state = before.states[type]
    if (type === 'SOA' || state === after.states[type]) return false
    if (type !== 'A' && type !== 'AAAA') return true
    return state === undefined || state.count < 2 || state.first_seen < clocks[CLOCK_INDEX[type]]!
  })
}

/** Returns the write of a name that was not probed and is due at another time. */
export function postponedChange(state: CrawlState, due: Instant): Change {
  return { state: { ...state, due }, facts: null }
}

/** Returns what must be written, or null if nothing must. */
export function changeOf(draft: ObservationDraft): Change | null {
  if (!draft.touched) return null
  const { clocks, dnsFingerprint, webFingerprint, before, current } = draft
  const { due, failures } = draft.plan
  const state = { ...draft.state, clocks, dnsFingerprint, webFingerprint, due, failures }
  if (current === before) return { state, facts: null }
  return {
    state,
    facts: {
      current,
      superseded: draft.superseded,
      firstSeen: draft.firstSeen,
      arrived: current.addresses.filter((address) => !before.addresses.includes(address)),
      left: before.addresses.filter((address) => !current.addresses.includes(address)),
      redirectBefore: before.web?.redirects_to ?? null,
      redirectAfter: current.web?.redirects_to ?? null,
      terms: draft.terms,
    },
  }
}

/** Returns true if any part of the dns part was newer than its clock. */
function applyDns(draft: ObservationDraft, prepared: PreparedObservation): boolean {
  const { queriedTypes, observed_at, dnsFingerprint } = prepared
  if (dnsFingerprint === 0) return false
  const queried = queriedRecordTypes(queriedTypes)
  const types = queried.filter((type) => observed_at > draft.clocks[CLOCK_INDEX[type]]!)
  const newer = observed_at > draft.clocks[CLOCK_INDEX.status]!
  if (!newer && types.length === 0) return false
  const whole = newer && types.length === queried.length
  if (dnsFingerprint !== draft.dnsFingerprint) {
    const before = draft.current
    const dnsPart = parsePreparedDns(prepared.dns!)
    for (const type of types) applyType(draft, type, dnsPart.texts[type]!, observed_at)
    const status = newer ? dnsPart.status : draft.current.status
    const resolved = types.includes('A') || types.includes('AAAA') || draft.current.ip !== null
    draft.current = deriveResolution({ ...draft.current, status }, resolved, before)
    draft.dnsFingerprint = whole ? dnsFingerprint : 0
  }
  if (newer) draft.clocks[CLOCK_INDEX.status] = observed_at
  for (const type of types) draft.clocks[CLOCK_INDEX[type]] = observed_at
  return true
}

function applyType(draft: ObservationDraft, type: RecordType, text: string, at: Instant): void {
  const known = draft.current.states[type]
  if (known ? known.records === text : text === '[]') return
  if (known) draft.superseded.push(supersededState(type, known, draft.clocks[CLOCK_INDEX[type]]!))
  const state: DnsState = {
    first_seen: at,
    count: countAfterState(known),
    records: text,
    base: known && type === 'SOA' && differsInSerialOnly(known.records, text) ? (known.base ?? known.first_seen) : null,
  }
  draft.current = { ...draft.current, states: { ...draft.current.states, [type]: state } }
  if (type !== 'A' && type !== 'AAAA') return
  const before = known ? addressesOfRecords(known.records) : []
  for (const address of addressesOfRecords(text))
    if (!before.includes(address)) draft.firstSeen.push({ address, since: at })
}

/** Derives the facts that follow from status and states. Returns `before` itself if nothing differs from it. */
function deriveResolution(current: CurrentFacts, resolved: boolean, before: CurrentFacts): CurrentFacts {
  const all = [...addressesOfRecords(current.states.A?.records), ...addressesOfRecords(current.states.AAAA?.records)]
  const addresses = current.status === 'ok' ? all.sort(compareAddresses) : []
  const ip = ipStatusOf(current, resolved)
  const only_dns_no_web = isOnlyDns(ip, current.states)
  const same = current.states === before.states && current.status === before.status && ip === before.ip
  return same ? before : { ...current, ip, only_dns_no_web, addresses }
}

/** Returns true if the web part was newer than its clock. */
function applyWeb(draft: ObservationDraft, prepared: PreparedObservation): boolean {
  const { observed_at, webFingerprint } = prepared
  if (webFingerprint === 0 || observed_at <= draft.clocks[CLOCK_INDEX.web]!) return false
  if (webFingerprint !== draft.webFingerprint) {
    const web = parsePreparedWeb(prepared.web!)
    if (typeof web === 'string') return applyCertificate(draft, web)
    const website = websiteFromPart(web)
    const known = draft.current.web
    if (!known || JSON.stringify(known) !== JSON.stringify(website)) draft.current = { ...draft.current, web: website }
    if (website.digest !== (known?.digest ?? null)) draft.terms = web.text ? termsOf(web.text) : null
    draft.webFingerprint = webFingerprint
  }
  draft.clocks[CLOCK_INDEX.web] = observed_at
  return true
}

/** Applies a certificate verdict without a web part. It moves no clock. Returns true if the verdict differs. */
function applyCertificate(draft: ObservationDraft, ssl: Ssl): boolean {
  const known = draft.current.web ?? NO_WEBSITE
  if (draft.current.web !== null && known.ssl === ssl) return false
  draft.current = { ...draft.current, web: { ...known, ssl } }
  draft.webFingerprint = 0
  return true
}
