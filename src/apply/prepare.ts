/** Prepares an observation for comparison: the canonical text of each part, and its fingerprint. */

import { hash } from 'node:crypto'
import type { DnsPart, DnsStatus, Observation, WebPart } from '../observe/observation.ts'
import { type Certificate, decodeCertificate, encodeCertificate } from '../values/certificate/certificate.ts'
import type { DomainName } from '../values/domain-name.ts'
import { RECORD_TYPES, type RecordType } from '../values/records/dns-record.ts'
import { encodeRecords } from '../values/records/stored-records.ts'
import type { Instant } from '../values/time.ts'
import type { Ssl } from '../values/web-verdict.ts'
import { RECORD_TYPE_NUMBERS } from './stored-numbers.ts'

/**
 * `dns` and `web` are texts that parsePreparedDns and parsePreparedWeb read, or null without the part. `web` can also be
 * a certificate alone, which `presentedIn` reads, and whose fingerprint is 0. Strings are
 * cheaper than objects to pass between threads and to hold during a batch.
 * `queriedTypes` has one bit for each queried record type, by its number in RECORD_TYPE_NUMBERS, and
 * `interruptedTypes` one for each type of `DnsPart.interrupted`. A fingerprint is an integer from 1 to 2^48 - 1, or 0
 * without the part. `isOk`: the status of the dns part is ok.
 */
export type PreparedObservation = {
  name: DomainName
  observed_at: Instant
  queriedTypes: number
  interruptedTypes: number
  isOk: boolean
  dns: string | null
  web: string | null
  dnsFingerprint: number
  webFingerprint: number
}

/** The dns part as it is applied: `texts` has the stored text of each queried record type. */
export type PreparedDns = { status: DnsStatus; texts: Partial<Record<RecordType, string>> }

/** The bit of `queriedTypes` that says that the web part has a certificate, or that there is none. No record type has it. */
const CERTIFICATE_BIT = 1 << 30

/** Whether the web part says what certificate was presented. */
export function hasCertificate({ queriedTypes }: Pick<PreparedObservation, 'queriedTypes'>): boolean {
  return (queriedTypes & CERTIFICATE_BIT) !== 0
}

/** Separates the texts of one part. JSON text never contains it. */
const TEXT_SEPARATOR = '\n'

export function prepareObservation(observation: Observation): PreparedObservation {
  const { domain, observed_at, dns, web, ssl, presented = web?.certificate } = observation
  const dnsText = dns ? serializeDns(dns) : null
  const webText = web ? serializeWeb(web) : ssl === undefined ? null : JSON.stringify(ssl)
  return {
    name: domain,
    observed_at,
    queriedTypes:
      (dns ? bitsOfTypes(RECORD_TYPES.filter((type) => dns.records[type])) : 0) |
      (presented === undefined ? 0 : CERTIFICATE_BIT),
    interruptedTypes: bitsOfTypes(dns?.interrupted ?? []),
    isOk: dns?.status === 'ok',
    dns: dnsText,
    web: webText ?? (presented === undefined ? null : CERTIFICATE_ALONE + encodeCertificate(presented)),
    dnsFingerprint: dnsText === null ? 0 : fingerprintOf(dnsText),
    webFingerprint: webText === null ? 0 : fingerprintOf(webText),
  }
}

/** Begins the text of a certificate without a web part, whose fingerprint is 0. */
const CERTIFICATE_ALONE = 'certificate'

/** The certificate of a text of a web part, or of a certificate without one. */
export function presentedIn(written: string): Certificate | null {
  if (written.startsWith(CERTIFICATE_ALONE)) return decodeCertificate(written.slice(CERTIFICATE_ALONE.length))
  return (parsePreparedWeb(written) as WebPart).certificate ?? null
}

/** Returns the record types whose bits are set (`PreparedObservation.queriedTypes` and `interruptedTypes`). */
export function typesOfBits(bits: number): RecordType[] {
  return RECORD_TYPES.filter((type) => (bits & (1 << RECORD_TYPE_NUMBERS[type])) !== 0)
}

function bitsOfTypes(types: readonly RecordType[]): number {
  let bits = 0
  for (const type of types) bits |= 1 << RECORD_TYPE_NUMBERS[type]
  return bits
}

/** Returns the status, then each type with its stored text. */
function serializeDns({ status, records }: DnsPart): string {
  let text: string = status
  for (const type of RECORD_TYPES) {
    const set = records[type]
    if (set) text += TEXT_SEPARATOR + type + encodeRecords(type, set)
  }
  return text
}

/** Returns the fingerprint of a dns part. `texts` has the stored text of each queried type. */
export function dnsFingerprintOf({ status, texts }: PreparedDns): number {
  const queried = RECORD_TYPES.filter((type) => texts[type] !== undefined)
  return fingerprintOf([status, ...queried.map((type) => type + texts[type])].join(TEXT_SEPARATOR))
}

export function parsePreparedDns(text: string): PreparedDns {
  const [status, ...rest] = text.split(TEXT_SEPARATOR)
  const texts: PreparedDns['texts'] = {}
  for (const each of rest) {
    const begin = each.indexOf('[')
    texts[each.slice(0, begin) as RecordType] = each.slice(begin)
  }
  return { status: status as DnsStatus, texts }
}

/** Returns the facts as JSON, then the page text as it is. What is absent at the end is not written. */
function serializeWeb(web: WebPart): string {
  const { redirect_host, certificate } = web
  const values: unknown[] = [
    web.has_website,
    web.redirect_to_https,
    web.redirect_to_www,
    web.only_with_www,
    web.redirects_to,
    web.ssl,
    web.social_accounts.map(({ network, type, username, url }) => [network, type, username, url]),
  ]
  if (redirect_host !== undefined || certificate !== undefined) values.push(redirect_host ?? null)
  if (certificate !== undefined) values.push(encodeCertificate(certificate))
  return JSON.stringify(values) + TEXT_SEPARATOR + (web.text ?? '')
}

/** Reads a complete web part, or a certificate verdict alone. */
export function parsePreparedWeb(written: string): WebPart | Ssl {
  if (written.startsWith('"')) return JSON.parse(written) as Ssl
  const end = written.indexOf(TEXT_SEPARATOR)
  const [has_website, redirect_to_https, redirect_to_www, only_with_www, redirects_to, ssl, accounts, ...rest] =
    JSON.parse(written.slice(0, end))
  const [redirect_host = null, certificate] = rest as [DomainName | null | undefined, string | undefined]
  const social_accounts = (accounts as string[][]).map(([network = '', type = '', username = '', url = '']) => {
    return { network, type, username, url }
  })
  const text = written.slice(end + TEXT_SEPARATOR.length) || null
  return {
    has_website,
    redirect_to_https,
    redirect_to_www,
    only_with_www,
    redirects_to,
    ...(redirect_host !== null && { redirect_host }),
    ssl,
    social_accounts,
    text,
    ...(certificate !== undefined && { certificate: decodeCertificate(certificate) }),
  }
}

/** 48 bits of SHA-256. One changed part in 2.8 * 10^14 looks unchanged until its next change. */
function fingerprintOf(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16) || 1
}
