/** Applies observations of one name to what is known of it: known + Observation -> Change. Pure. */

import type { SocialAccount, Ssl, WebPart } from '../observe/observation.ts'
import { digestOf, type Terms, termsOf } from '../similar/terms.ts'
import { type Address, compareAddresses } from '../words/address.ts'
import { compareBytewise } from '../words/order.ts'
import { RECORD_TYPES, type RecordType } from '../words/record.ts'
import type { Instant } from '../words/time.ts'
import type { Change, Superseded } from './change.ts'
import { type Plan, planAfter, RHYTHM, type Rhythm } from './due.ts'
import { type Current, NO_WEBSITE, NOTHING_KNOWN, type State, type Visit, type Website } from './known.ts'
import { CLOCK_OF } from './numbers.ts'
import { isOk, type Prepared, readDns, readWeb, typesOf } from './prepare.ts'
import { ipOf, onlyDns } from './resolution.ts'
import { addressesOf, afterState, differsInSerialAlone, superseded } from './state.ts'

/** `applied`: a fact changed or the name became known. `unchanged`: confirmed. `stale`: nothing in it was newer than its clock. */
export type Outcome = 'applied' | 'unchanged' | 'stale'

/** A name while observations are applied to it, one after another. */
export type Draft = {
  visit: Visit
  clocks: Instant[]
  dnsPrint: number
  webPrint: number
  before: Current
  current: Current
  superseded: Superseded[]
  seen: { address: Address; since: Instant }[]
  terms: Terms | null | undefined
  touched: boolean
  /** When it is due, as the observations move it. */
  plan: Plan
  rhythm: Rhythm
}

/** True where the current facts are needed to apply this; false where the fingerprints say that nothing changed. */
export function differs(visit: Visit, { dns, web, dnsPrint, webPrint }: Prepared): boolean {
  if (visit.forgotten) return false
  return (dns !== null && dnsPrint !== visit.dnsPrint) || (web !== null && webPrint !== visit.webPrint)
}

/** Begins with what is known; `current` may be NOTHING_KNOWN where `differs` is false for all that will be applied. */
export function begin(visit: Visit, current: Current = NOTHING_KNOWN, rhythm: Rhythm = RHYTHM): Draft {
  return {
    visit,
    clocks: [...visit.clocks],
    dnsPrint: visit.dnsPrint,
    webPrint: visit.webPrint,
    before: current,
    current,
    superseded: [],
    seen: [],
    terms: undefined,
    touched: false,
    plan: visit,
    rhythm,
  }
}

/** Applies one observation; what is not newer than its clock changes nothing, and nothing does to a forgotten name. */
export function apply(draft: Draft, prepared: Prepared): Outcome {
  if (draft.visit.forgotten) return 'stale'
  const made = draft.visit.version === 0 && !draft.touched
  const before = draft.current
  const clocks = [...draft.clocks]
  const newer = [applyDns(draft, prepared), applyWeb(draft, prepared)].includes(true)
  if (newer || made) draft.touched = true
  if (newer) plan(draft, prepared, before, clocks)
  if (made || draft.current !== before) return 'applied'
  return newer ? 'unchanged' : 'stale'
}

/** A late observation, older than the newest that was applied, moves no plan. */
function plan(draft: Draft, { observed_at: at, dns }: Prepared, before: Current, clocks: readonly Instant[]): void {
  const last = Math.max(...clocks)
  if (at <= last) return
  const failing = dns === null ? draft.plan.failures > 0 : !isOk(dns)
  const changed = draft.current !== before && isChange(before, draft.current, clocks)
  draft.plan = planAfter({ ...draft.visit, ...draft.plan }, last, { at, changed, failing }, draft.rhythm)
}

/**
 * Whether what differs is worth an earlier visit: neither an SOA, nor the text of the start page, nor the host that a redirect
 * ends at, nor an address set that had changed at the visit before as well.
 */
function isChange(before: Current, after: Current, clocks: readonly Instant[]): boolean {
  if (before.status !== after.status || !isSameWebsite(before.web, after.web)) return true
  return RECORD_TYPES.some((type) => {
    const state = before.states[type]
    if (type === 'SOA' || state === after.states[type]) return false
    if (type !== 'A' && type !== 'AAAA') return true
    return state === undefined || state.count < 2 || state.first_seen < clocks[CLOCK_OF[type]]!
  })
}

function isSameWebsite(before: Website | null, after: Website | null): boolean {
  if (before === after) return true
  const settled = { redirect_host: null, digest: null }
  return JSON.stringify({ ...before, ...settled }) === JSON.stringify({ ...after, ...settled })
}

/** The write of a name that was not looked at, and is due at another time. */
export function postponed(visit: Visit, due: Instant): Change {
  return { visit: { ...visit, due }, facts: null }
}

/** What must be written; null for nothing. */
export function changeOf(draft: Draft): Change | null {
  if (!draft.touched) return null
  const { clocks, dnsPrint, webPrint, before, current } = draft
  const { due, failures } = draft.plan
  const visit = { ...draft.visit, clocks, dnsPrint, webPrint, due, failures }
  if (current === before) return { visit, facts: null }
  return {
    visit,
    facts: {
      current,
      superseded: draft.superseded,
      seen: draft.seen,
      arrived: current.addresses.filter((address) => !before.addresses.includes(address)),
      left: before.addresses.filter((address) => !current.addresses.includes(address)),
      redirectBefore: before.web?.redirects_to ?? null,
      redirectAfter: current.web?.redirects_to ?? null,
      terms: draft.terms,
    },
  }
}

/** True where anything in the dns part was newer than its clock. */
function applyDns(draft: Draft, { asked: bits, observed_at, dns, dnsPrint }: Prepared): boolean {
  if (dns === null) return false
  const asked = typesOf(bits)
  const types = asked.filter((type) => observed_at > draft.clocks[CLOCK_OF[type]]!)
  const newer = observed_at > draft.clocks[CLOCK_OF.status]!
  if (!newer && types.length === 0) return false
  const whole = newer && types.length === asked.length
  if (dnsPrint !== draft.dnsPrint) {
    const before = draft.current
    const said = readDns(dns)
    for (const type of types) applyType(draft, type, said.texts[type]!, observed_at)
    const status = newer ? said.status : draft.current.status
    const resolved = types.includes('A') || types.includes('AAAA') || draft.current.ip !== null
    draft.current = resolve({ ...draft.current, status }, resolved, before)
    draft.dnsPrint = whole ? dnsPrint : 0
  }
  if (newer) draft.clocks[CLOCK_OF.status] = observed_at
  for (const type of types) draft.clocks[CLOCK_OF[type]] = observed_at
  return true
}

function applyType(draft: Draft, type: RecordType, text: string, at: Instant): void {
  const known = draft.current.states[type]
  if (known ? known.records === text : text === '[]') return
  if (known) draft.superseded.push(superseded(type, known, draft.clocks[CLOCK_OF[type]]!))
  const state: State = {
    first_seen: at,
    count: afterState(known),
    records: text,
    base:
      known && type === 'SOA' && differsInSerialAlone(known.records, text) ? (known.base ?? known.first_seen) : null,
  }
  draft.current = { ...draft.current, states: { ...draft.current.states, [type]: state } }
  if (type !== 'A' && type !== 'AAAA') return
  const before = known ? addressesOf(known.records) : []
  for (const address of addressesOf(text)) if (!before.includes(address)) draft.seen.push({ address, since: at })
}

/** Derives what follows from status and states; `before` itself where nothing differs from it. */
function resolve(current: Current, resolved: boolean, before: Current): Current {
  const all = [...addressesOf(current.states.A?.records), ...addressesOf(current.states.AAAA?.records)]
  const addresses = current.status === 'ok' ? all.sort(compareAddresses) : []
  const ip = ipOf(current, resolved)
  const only_dns_no_web = onlyDns(ip, current.states)
  const same = current.states === before.states && current.status === before.status && ip === before.ip
  return same ? before : { ...current, ip, only_dns_no_web, addresses }
}

/** True where the web part was newer than its clock. */
function applyWeb(draft: Draft, { web: written, observed_at, webPrint }: Prepared): boolean {
  if (written === null || observed_at <= draft.clocks[CLOCK_OF.web]!) return false
  if (webPrint !== draft.webPrint) {
    const web = readWeb(written)
    if (typeof web === 'string') return applyCertificate(draft, web)
    const website = websiteOf(web)
    const known = draft.current.web
    if (!known || JSON.stringify(known) !== JSON.stringify(website)) draft.current = { ...draft.current, web: website }
    if (website.digest !== (known?.digest ?? null)) draft.terms = web.text ? termsOf(web.text) : null
    draft.webPrint = webPrint
  }
  draft.clocks[CLOCK_OF.web] = observed_at
  return true
}

/** The verdict on a certificate alone moves no clock, because nothing else of the web was seen. True where it is another one. */
function applyCertificate(draft: Draft, ssl: Ssl): boolean {
  const known = draft.current.web ?? NO_WEBSITE
  if (draft.current.web !== null && known.ssl === ssl) return false
  draft.current = { ...draft.current, web: { ...known, ssl } }
  draft.webPrint = 0
  return true
}

function websiteOf(web: WebPart): Website {
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
    digest: web.text ? digestOf(web.text) : null,
  }
}
