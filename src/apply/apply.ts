/** Applies observations of one name to its known state: known + Observation -> Change. Pure. */

import type { Ssl } from '../observe/observation.ts'
import { termsOf } from '../similar/text/terms.ts'
import { RECORD_TYPES } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import { applyDns } from './apply-dns.ts'
import type { Change } from './change.ts'
import { type CrawlState, type CurrentFacts, NO_WEBSITE } from './crawl-state.ts'
import type { ObservationDraft } from './draft.ts'
import { planAfterObservation } from './next-probe.ts'
import { type PreparedObservation, parsePreparedWeb } from './prepare.ts'
import { CLOCK_INDEX } from './stored-numbers.ts'
import { isSameWebsite, websiteFromPart } from './web-facts.ts'

/** `applied`: a fact changed, or the name is new. `unchanged`: confirmed. `stale`: no part was newer than its clock. */
export type ApplyOutcome = 'applied' | 'unchanged' | 'stale'

/** Returns true if the current facts are needed, and false if the fingerprints show that nothing changed. */
export function differs(state: CrawlState, prepared: PreparedObservation): boolean {
  const { dnsFingerprint, webFingerprint, interruptedTypes } = prepared
  if (state.forgotten) return false
  return (
    interruptedTypes !== 0 ||
    (dnsFingerprint !== 0 && dnsFingerprint !== state.dnsFingerprint) ||
    (webFingerprint !== 0 && webFingerprint !== state.webFingerprint)
  )
}

/**
 * Applies one observation. A part that is not newer than its clock changes nothing. A forgotten name stays as it is.
 */
export function applyObservation(draft: ObservationDraft, prepared: PreparedObservation): ApplyOutcome {
  if (draft.state.forgotten) return 'stale'
  const isNew = draft.state.version === 0 && !draft.touched
  const before = draft.current
  const interruptions = draft.interruptions.length
  const clocks = [...draft.clocks]
  const newer = [applyDns(draft, prepared), applyWeb(draft, prepared)].includes(true)
  if (newer || isNew) draft.touched = true
  if (newer) planNextProbe(draft, prepared, before, clocks)
  if (isNew || draft.current !== before || draft.interruptions.length > interruptions) return 'applied'
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
    if (type === 'SOA' || state?.records === after.states[type]?.records) return false
    if (type !== 'A' && type !== 'AAAA') return true
    return state === undefined || state.count < 2 || state.first_seen < clocks[CLOCK_INDEX[type]]!
  })
}

/** Returns the write of a name that was not probed and is due at another time. */
export function postponedChange(state: CrawlState, due: Instant): Change {
  return { state: { ...state, due }, facts: null }
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
