/** Applies the dns part of an observation to a draft: states, the times in which records were gone, and addresses. Pure. */

import type { DnsStatus } from '../observe/observation.ts'
import { compareAddresses } from '../values/ip-address.ts'
import { RECORD_TYPES, type RecordType } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import type { Absence, CurrentFacts, DnsState } from './crawl-state.ts'
import { addressesOfRecords, countAfterState, differsInSerialOnly, supersededState } from './dns-state.ts'
import type { ObservationDraft } from './draft.ts'
import { type PreparedObservation, parsePreparedDns, typesOfBits } from './prepare.ts'
import { ipStatusOf, isOnlyDns } from './resolution.ts'
import { CLOCK_INDEX } from './stored-numbers.ts'

/** Returns true if any part of the dns part was newer than its clock. */
export function applyDns(draft: ObservationDraft, prepared: PreparedObservation): boolean {
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
    if (newer) noteAbsence(draft, dnsPart.status, observed_at)
    for (const type of types) applyType(draft, type, dnsPart.texts[type]!, observed_at, interrupted.includes(type))
    const status = newer ? dnsPart.status : draft.current.status
    const resolved = types.includes('A') || types.includes('AAAA') || draft.current.ip !== null
    draft.current = deriveResolution({ ...draft.current, status }, resolved, before)
    draft.dnsFingerprint = whole ? dnsFingerprint : 0
  }
  if (newer) draft.clocks[CLOCK_INDEX.status] = observed_at
  for (const type of types) draft.clocks[CLOCK_INDEX[type]] = observed_at
  return true
}

/** Keeps in every state with records that the name did not exist, until the type is observed again. */
function noteAbsence(draft: ObservationDraft, status: DnsStatus, at: Instant): void {
  const wasAbsent = draft.current.status === 'nxdomain'
  const isAbsent = status === 'nxdomain'
  if (!wasAbsent && !isAbsent) return
  const last = isAbsent ? at : draft.clocks[CLOCK_INDEX.status]!
  for (const type of RECORD_TYPES) {
    const state = draft.current.states[type]
    if (state === undefined || state.records === '[]' || last <= draft.clocks[CLOCK_INDEX[type]]!) continue
    if (wasAbsent && isAbsent && state.absence) continue
    setState(draft, type, { ...state, absence: { first: state.absence?.first ?? last, last } })
  }
}

function setState(draft: ObservationDraft, type: RecordType, state: DnsState): void {
  draft.current = { ...draft.current, states: { ...draft.current.states, [type]: state } }
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

/** `isInterrupted`: the observation itself says that the records were not observed continuously until now. */
function applyType(draft: ObservationDraft, type: RecordType, text: string, at: Instant, isInterrupted: boolean): void {
  const known = draft.current.states[type]
  const clock = draft.clocks[CLOCK_INDEX[type]]!
  const absence = absenceAfter(draft, known?.absence, at)
  const wasAbsent = known?.absence !== undefined && known.absence.first <= at
  if (known && known.records !== '[]' && text !== '[]' && (isInterrupted || wasAbsent))
    draft.interruptions.push({ type, last_seen: clock, seen_again: at })
  if (known ? known.records === text : text === '[]') {
    if (known?.absence && absence !== known.absence) setState(draft, type, withAbsence(known, absence))
    return
  }
  if (known) draft.superseded.push(supersededState(type, known, clock))
  const state: DnsState = {
    first_seen: at,
    count: countAfterState(known),
    records: text,
    base: known && type === 'SOA' && differsInSerialOnly(known.records, text) ? (known.base ?? known.first_seen) : null,
  }
  setState(draft, type, text === '[]' ? state : withAbsence(state, absence))
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
