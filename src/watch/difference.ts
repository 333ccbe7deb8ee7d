/** Differences: what an observation changed, in the form of the events that callers read. Pure. */

import type { Transition } from '../apply/change.ts'
import { differsInSerialOnly } from '../apply/dns-state.ts'
import type { SetChange } from '../inverse/entries/record-events.ts'
import type { DnsStatus } from '../observe/observation.ts'
import type { Certificate } from '../values/certificate/certificate.ts'
import { presentedFingerprint } from '../values/certificate/presented.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { AnyRecord, RecordType } from '../values/records/dns-record.ts'
import { decodeRecords } from '../values/records/stored-records.ts'
import { isFurtherType } from '../values/state-type.ts'
import { formatInstant, type Instant } from '../values/time.ts'
import { finalHostOf, type WebVerdict } from '../values/web-verdict.ts'
import { valuesWithout } from './subjects.ts'

/** The part of a verdict that is no redirect to another domain. */
type WebsiteVerdict = Omit<WebVerdict, 'redirects_to' | 'redirect_host'>

/** The certificate of a difference. `names`: the first of `name_count` ones. Times as the API writes them. */
export type CertificateDetails = {
  sha256: string
  issuer: string
  not_before: string
  not_after: string
  names: readonly string[]
  name_count: number
}

/**
 * A difference. `before`: null if the part was never observed, or if there was none. `records`: those that appeared and
 * disappeared. `website`: the fields that differ. `certificate`: `logged_at` if a log published it, and no name
 * presented it. `text`: the percentage of words that differ.
 */
export type Difference =
  | { type: 'new' }
  | { type: 'status'; before: DnsStatus | null; after: DnsStatus }
  | { type: 'records'; record_type: RecordType; added: readonly AnyRecord[]; removed: readonly AnyRecord[] }
  | { type: 'website'; before: Partial<WebsiteVerdict> | null; after: Partial<WebsiteVerdict> }
  | { type: 'redirect'; before: DomainName | null; after: DomainName | null }
  | { type: 'certificate'; before: string | null; after: CertificateDetails | null }
  | { type: 'certificate'; logged_at: string; after: CertificateDetails }
  | { type: 'text'; percent: number }

const MAX_LISTED_NAMES = 100
const WEBSITE_FIELDS = ['has_website', 'redirect_to_https', 'redirect_to_www', 'only_with_www', 'ssl'] as const

/** The differences of a transition that need nothing else than it. `certificates`: those that the name presented. */
export function differencesOf(transition: Transition, certificates: readonly Certificate[]): Difference[] {
  switch (transition.type) {
    case 'new':
      return [{ type: 'new' }]
    case 'status':
      return statusDifference(transition)
    case 'verdict':
      return verdictDifferences(transition.before, transition.after)
    case 'certificate':
      return [certificateDifference(transition, certificates)]
    case 'text':
      return []
    default:
      return recordDifference(transition)
  }
}

/** A failure to resolve is no difference by itself, because it says nothing about the name. */
function statusDifference({ before, after }: { before: DnsStatus | null; after: DnsStatus }): Difference[] {
  return (before === 'nxdomain') === (after === 'nxdomain') ? [] : [{ type: 'status', before, after }]
}

/** None for an SOA of which only the serial differs: it changes with each version of a zone. */
function recordDifference({ type, before = '[]', after }: SetChange): Difference[] {
  if (isFurtherType(type) || before === after) return []
  if (type === 'SOA' && before !== '[]' && differsInSerialOnly(before, after)) return []
  const [former, present] = [JSON.parse(before) as unknown[], JSON.parse(after) as unknown[]]
  const without = (values: readonly unknown[], others: readonly unknown[]): readonly AnyRecord[] =>
    decodeRecords(type, JSON.stringify(valuesWithout(values, others)))
  const added = without(present, former)
  const removed = without(former, present)
  return [{ type: 'records', record_type: type, added, removed }]
}

function verdictDifferences(before: WebVerdict | null, after: WebVerdict): Difference[] {
  const differences: Difference[] = []
  const fields = WEBSITE_FIELDS.filter((field) => before === null || before[field] !== after[field])
  const pick = (verdict: WebVerdict): Partial<WebsiteVerdict> =>
    Object.fromEntries(fields.map((field) => [field, verdict[field]]))
  if (fields.length > 0)
    differences.push({ type: 'website', before: before === null ? null : pick(before), after: pick(after) })
  const [former, present] = [before === null ? null : finalHostOf(before), finalHostOf(after)]
  if (former !== present) differences.push({ type: 'redirect', before: former, after: present })
  return differences
}

function certificateDifference({ before, after }: SetChange, certificates: readonly Certificate[]): Difference {
  const sha256 = presentedFingerprint(after)
  const presented = certificates.find((each) => each.sha256 === sha256)
  return {
    type: 'certificate',
    before: before === undefined ? null : presentedFingerprint(before),
    after: presented === undefined ? null : certificateDetails(presented),
  }
}

/** The difference of a certificate that a log published. */
export function loggedDifference(certificate: Certificate, loggedAt: Instant): Difference {
  return { type: 'certificate', logged_at: formatInstant(loggedAt), after: certificateDetails(certificate) }
}

function certificateDetails({ sha256, issuer, not_before, not_after, names }: Certificate): CertificateDetails {
  return {
    sha256,
    issuer,
    not_before: formatInstant(not_before),
    not_after: formatInstant(not_after),
    names: names.slice(0, MAX_LISTED_NAMES),
    name_count: names.length,
  }
}
