/** Applies observations of one name to its known state: known + Observation -> Change. Pure. */

import type { SetChange } from '../inverse/entries/record-events.ts'
import type { DnsStatus, SocialAccount, WebPart } from '../observe/observation.ts'
import { termsOf, textDigest } from '../similar/text/terms.ts'
import { compareBytewise } from '../values/bytewise-order.ts'
import type { Certificate } from '../values/certificate/certificate.ts'
import { encodePresented, presentedFingerprint } from '../values/certificate/presented.ts'
import { compareAddresses } from '../values/ip-address.ts'
import { RECORD_TYPES, type RecordType } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import type { Ssl } from '../values/web-verdict.ts'
import type { Change } from './change.ts'
import {
  type Absence,
  type CrawlState,
  type CurrentFacts,
  type DnsState,
  type NewestStates,
  NO_WEBSITE,
  type WebFacts,
} from './crawl-state.ts'
import { addressesOfRecords, countAfterState, differsInSerialOnly, supersededState } from './dns-state.ts'
import type { ObservationDraft } from './draft.ts'
import { planAfterObservation } from './next-probe.ts'
import {
  hasCertificate,
  type PreparedObservation,
  parsePreparedDns,
  parsePreparedWeb,
  presentedIn,
  typesOfBits,
} from './prepare.ts'
import { ipStatusOf, isOnlyDns } from './resolution.ts'
import { CLOCK_INDEX } from './stored-numbers.ts'
import { webStateChange } from './web-state.ts'

/** `applied`: a fact changed, or the name is new. `unchanged`: confirmed. `stale`: no part was newer than its clock. */
export type ApplyOutcome = 'applied' | 'unchanged' | 'stale'

/** Returns true if the current facts are needed, and false if the fingerprints show that nothing changed. */
export function differs(state: CrawlState, prepared: PreparedObservation): boolean {
  const { dnsFingerprint, webFingerprint, interruptedTypes, web } = prepared
  if (state.forgotten) return false
  const isCertificateAlone = web !== null && webFingerprint === 0
  return (
    interruptedTypes !== 0 ||
    isCertificateAlone ||
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
  if (isNew) draft.transitions.push({ type: 'new', at: prepared.observed_at })
  const newer = [applyDns(draft, prepared), applyPresented(draft, prepared), applyWeb(draft, prepared)].includes(true)
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

/**
 * Applies the certificate of the web part, which has a clock of its own, because not every web part has one. Returns
 * true if it was newer than its clock. A certificate can also come without a web part.
 */
function applyPresented(draft: ObservationDraft, prepared: PreparedObservation): boolean {
  const { observed_at: at, webFingerprint } = prepared
  const clock = draft.clocks[CLOCK_INDEX.certificate]!
  if (!hasCertificate(prepared) || at <= clock) return false
  draft.clocks[CLOCK_INDEX.certificate] = at
  if (webFingerprint !== 0 && webFingerprint === draft.webFingerprint) return true
  const presented = presentedIn(prepared.web!)
  if (isNewestCertificate(draft.current, presented)) return true
  const known = draft.current.states.certificate
  const after = encodePresented(presented)
  if (presented !== null) draft.certificates.push(presented)
  if (webFingerprint === 0) draft.webFingerprint = 0 // that of a part with another certificate
  const certificate = { first_seen: at, count: countAfterState(known), records: after }
  draft.current = { ...draft.current, states: { ...draft.current.states, certificate } }
  const before = known?.records
  if (known) draft.superseded.push(supersededState('certificate', { ...known, base: null }, clock))
  const change: SetChange = { type: 'certificate', before, last: clock, after, at, isInterrupted: false }
  draft.setChanges.push(change)
  draft.transitions.push(change)
  return true
}

/** Whether the newest state of the certificate has this one; null: none was presented. */
function isNewestCertificate({ states }: CurrentFacts, presented: Certificate | null): boolean {
  return presentedFingerprint(states.certificate?.records ?? '[]') === (presented?.sha256 ?? null)
}

/** Returns true if the web part was newer than its clock. */
function applyWeb(draft: ObservationDraft, prepared: PreparedObservation): boolean {
  const { observed_at, webFingerprint } = prepared
  if (webFingerprint === 0 || observed_at <= draft.clocks[CLOCK_INDEX.web]!) return false
  if (webFingerprint !== draft.webFingerprint) {
    const web = parsePreparedWeb(prepared.web!)
    if (typeof web === 'string') return applyCertificate(draft, web, observed_at)
    const website = websiteFromPart(web)
    const known = draft.current.web
    if (!known || JSON.stringify(known) !== JSON.stringify(website)) setWeb(draft, website, observed_at)
    if (website.digest !== (known?.digest ?? null)) setTerms(draft, web.text, observed_at)
    // another observation of the certificate may be newer, or of the same time
    const isWhole = web.certificate === undefined || isNewestCertificate(draft.current, web.certificate)
    draft.webFingerprint = isWhole ? webFingerprint : 0
  }
  draft.clocks[CLOCK_INDEX.web] = observed_at
  return true
}

/** Sets the terms of the start page, which differs from the one before. */
function setTerms(draft: ObservationDraft, text: string | null, at: Instant): void {
  const after = text ? termsOf(text) : null
  draft.terms = after
  draft.transitions.push({ type: 'text', after, at })
}

/** Sets the web facts, and begins a state of the verdict if that differs. */
function setWeb(draft: ObservationDraft, web: WebFacts, at: Instant): void {
  const change = webStateChange(draft.current, draft.clocks[CLOCK_INDEX.web]!, web, at)
  const states = change === null ? draft.current.states : { ...draft.current.states, web: change.state }
  if (change !== null) draft.transitions.push({ type: 'verdict', before: draft.current.web, after: web, at })
  draft.current = { ...draft.current, states, web }
  if (change === null) return
  draft.superseded.push(...change.superseded)
  draft.setChanges.push(...change.sets)
}

/**
 * Applies a certificate verdict without a web part. It moves no clock. If it is not later than the begin of the newest
 * state, it corrects that state. Returns true if the verdict differs.
 */
function applyCertificate(draft: ObservationDraft, ssl: Ssl, at: Instant): boolean {
  const { web: known, states } = draft.current
  if (known?.ssl === ssl) return false
  const web = { ...(known ?? NO_WEBSITE), ssl }
  if (states.web !== undefined && at <= states.web.first_seen) draft.current = { ...draft.current, web }
  else setWeb(draft, web, at)
  draft.webFingerprint = 0
  return true
}

/** Returns true if any part of the dns part was newer than its clock. */
function applyDns(draft: ObservationDraft, prepared: PreparedObservation): boolean {
  const { observed_at, dnsFingerprint } = prepared
  if (dnsFingerprint === 0) return false
  const queried = typesOfBits(prepared.queriedTypes)
  const interrupted = typesOfBits(prepared.interruptedTypes)
  const types = queried.filter((type) => observed_at > draft.clocks[CLOCK_INDEX[type]]!)
  const newer = observed_at > draft.clocks[CLOCK_INDEX.status]!
  if (!newer && types.length === 0) return false
  const whole = newer && types.length === queried.length
  if (dnsFingerprint !== draft.dnsFingerprint || interrupted.length > 0) {
    const before = draft.current
    const dnsPart = parsePreparedDns(prepared.dns!)
    const states = { ...before.states }
    if (newer) noteAbsence(draft, states, dnsPart.status, observed_at)
    for (const type of types)
      applyType(draft, states, {
        type,
        text: dnsPart.texts[type]!,
        at: observed_at,
        isInterrupted: interrupted.includes(type),
      })
    const status = newer ? dnsPart.status : before.status
    if (newer && dnsPart.status !== before.status)
      draft.transitions.push({ type: 'status', before: before.status, after: dnsPart.status, at: observed_at })
    const resolved = types.includes('A') || types.includes('AAAA') || before.ip !== null
    const isChanged = RECORD_TYPES.some((type) => states[type] !== before.states[type])
    const current = { ...before, status, states: isChanged ? states : before.states }
    draft.current = deriveResolution(current, resolved, before)
    draft.dnsFingerprint = whole ? dnsFingerprint : 0
  }
  if (newer) draft.clocks[CLOCK_INDEX.status] = observed_at
  for (const type of types) draft.clocks[CLOCK_INDEX[type]] = observed_at
  return true
}

/** Keeps in every one of `states` with records that the name did not exist, until the type is observed again. */
function noteAbsence(draft: ObservationDraft, states: NewestStates, status: DnsStatus, at: Instant): void {
  const wasAbsent = draft.current.status === 'nxdomain'
  const isAbsent = status === 'nxdomain'
  if (!wasAbsent && !isAbsent) return
  const last = isAbsent ? at : draft.clocks[CLOCK_INDEX.status]!
  for (const type of RECORD_TYPES) {
    const state = states[type]
    if (state === undefined || state.records === '[]' || last <= draft.clocks[CLOCK_INDEX[type]]!) continue
    if (wasAbsent && isAbsent && state.absence) continue
    states[type] = { ...state, absence: { first: state.absence?.first ?? last, last } }
  }
}

/** Returns the part of an absence after `at`. Only an observation that comes late is followed by one. */
function absenceAfter(
  { current, clocks }: ObservationDraft,
  absence: Absence | undefined,
  at: Instant,
): Absence | undefined {
  const last = current.status === 'nxdomain' ? clocks[CLOCK_INDEX.status]! : (absence?.last ?? 0)
  if (last <= at) return undefined
  return absence && absence.first > at ? absence : { first: last, last }
}

/**
 * The records of a type in an observation at `at`. `isInterrupted`: it says itself that they were not observed
 * continuously until now.
 */
type ObservedSet = { type: RecordType; text: string; at: Instant; isInterrupted: boolean }

/** Applies the records of a type, and replaces its state in `states`. */
function applyType(
  draft: ObservationDraft,
  states: NewestStates,
  { type, text, at, isInterrupted }: ObservedSet,
): void {
  const known = states[type]
  const clock = draft.clocks[CLOCK_INDEX[type]]!
  const absence = absenceAfter(draft, known?.absence, at)
  const wasAbsent = known?.absence !== undefined && known.absence.first <= at
  const isSplit = known !== undefined && known.records !== '[]' && text !== '[]' && (isInterrupted || wasAbsent)
  if (isSplit) draft.interruptions.push({ type, last_seen: clock, seen_again: at })
  if (isSplit || known?.records !== text) {
    const change = { type, before: known?.records, last: clock, after: text, at, isInterrupted: isSplit }
    draft.setChanges.push(change)
    draft.transitions.push(change)
  }
  if (known ? known.records === text : text === '[]') {
    if (known?.absence && absence !== known.absence) states[type] = withAbsence(known, absence)
    return
  }
  if (known) draft.superseded.push(supersededState(type, known, clock))
  const state: DnsState = {
    first_seen: at,
    count: countAfterState(known),
    records: text,
    base: known && type === 'SOA' && differsInSerialOnly(known.records, text) ? (known.base ?? known.first_seen) : null,
  }
  states[type] = text === '[]' ? state : withAbsence(state, absence)
  if (type !== 'A' && type !== 'AAAA') return
  const before = known ? addressesOfRecords(known.records) : []
  for (const address of addressesOfRecords(text))
    if (!before.includes(address)) draft.firstSeen.push({ address, since: at })
}

function withAbsence({ absence: _former, ...state }: DnsState, absence: Absence | undefined): DnsState {
  return absence === undefined ? state : { ...state, absence }
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

/** Returns whether two web facts differ at most in the redirect host and the text digest. */
function isSameWebsite(before: WebFacts | null, after: WebFacts | null): boolean {
  if (before === after) return true
  const ignored = { redirect_host: null, digest: null }
  return JSON.stringify({ ...before, ...ignored }) === JSON.stringify({ ...after, ...ignored })
}

/** Returns the web facts of an observed web part. */
function websiteFromPart(web: WebPart): WebFacts {
  const { has_website, redirect_to_https, redirect_to_www, only_with_www, redirects_to, ssl, social_accounts } = web
  const { redirect_host } = web
  const social_networks = [...new Set(social_accounts.map(({ network }) => network))].sort(compareBytewise)
  const accounts: SocialAccount[] = social_accounts.map(({ network, type, username, url }) => ({
    network,
    type,
    username,
    url,
  }))
  return {
    has_website,
    redirect_to_https,
    redirect_to_www,
    only_with_www,
    redirects_to,
    ...(redirect_host !== undefined && { redirect_host }),
    ssl,
    social_networks,
    social_accounts: accounts,
    digest: web.text ? textDigest(web.text) : null,
  }
}
