/** An observation made ready to be compared: the canonical text of each part, and its fingerprint. */

import { hash } from 'node:crypto'
import type { DnsPart, DnsStatus, Observation, Ssl, WebPart } from '../observe/observation.ts'
import { RECORD_TYPES, type RecordType } from '../values/dns-record.ts'
import type { DomainName } from '../values/domain-name.ts'
import { encodeRecords } from '../values/stored-records.ts'
import type { Instant } from '../values/time.ts'
import { RECORD_TYPE_NUMBERS } from './stored-numbers.ts'

/**
 * `dns` and `web` are texts that readDns and readWeb read back, null without the part: two strings pass between
 * threads, and live through a batch, far cheaper than what they stand for. `asked` has a bit for each record type that
 * was asked, by its number in TYPE_NUMBERS. A fingerprint is a whole number from 1 to 2^48 - 1, 0 without the part.
 */
export type PreparedObservation = {
  name: DomainName
  observed_at: Instant
  queriedTypes: number
  dns: string | null
  web: string | null
  dnsFingerprint: number
  webFingerprint: number
}

/** The dns part as it is applied: `texts` has the kept text of each record type that was asked. */
export type PreparedDns = { status: DnsStatus; texts: Partial<Record<RecordType, string>> }

/** Stands between the texts of one part; as JSON none of them has one inside. */
const TEXT_SEPARATOR = '\n'

export function prepareObservation({ domain, observed_at, dns, web, ssl }: Observation): PreparedObservation {
  const dnsText = dns ? serializeDns(dns) : null
  const webText = web ? serializeWeb(web) : ssl === undefined ? null : JSON.stringify(ssl)
  return {
    name: domain,
    observed_at,
    queriedTypes: dns ? queriedTypeBits(dns) : 0,
    dns: dnsText,
    web: webText,
    dnsFingerprint: dnsText === null ? 0 : fingerprintOf(dnsText),
    webFingerprint: webText === null ? 0 : fingerprintOf(webText),
  }
}

/** The record types that the bits of `asked` stand for. */
export function queriedRecordTypes(bits: number): RecordType[] {
  return RECORD_TYPES.filter((type) => (bits & (1 << RECORD_TYPE_NUMBERS[type])) !== 0)
}

function queriedTypeBits({ records }: DnsPart): number {
  let queried = 0
  for (const type of RECORD_TYPES) if (records[type]) queried |= 1 << RECORD_TYPE_NUMBERS[type]
  return queried
}

/** The status, then each type with its kept text. */
function serializeDns({ status, records }: DnsPart): string {
  let text: string = status
  for (const type of RECORD_TYPES) {
    const set = records[type]
    if (set) text += TEXT_SEPARATOR + type + encodeRecords(type, set)
  }
  return text
}

/** The fingerprint of a dns part of which `texts` has the kept text of each type that was asked. */
export function dnsFingerprintOf({ status, texts }: PreparedDns): number {
  const queried = RECORD_TYPES.filter((type) => texts[type] !== undefined)
  return fingerprintOf([status, ...queried.map((type) => type + texts[type])].join(TEXT_SEPARATOR))
}

/** Whether the status of a dns part is ok. */
export function isDnsStatusOk(text: string): boolean {
  return text === 'ok' || text.startsWith(`ok${TEXT_SEPARATOR}`)
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

/** All but the text as JSON, then the text as it is. */
function serializeWeb({ text, ...facts }: WebPart): string {
  const accounts = facts.social_accounts.map(({ network, type, username, url }) => [network, type, username, url])
  const values = [
    facts.has_website,
    facts.redirect_to_https,
    facts.redirect_to_www,
    facts.only_with_www,
    facts.redirects_to,
    facts.ssl,
    accounts,
    ...(facts.redirect_host === undefined ? [] : [facts.redirect_host]),
  ]
  return JSON.stringify(values) + TEXT_SEPARATOR + (text ?? '')
}

/** The verdict on a certificate alone, or the whole part. */
export function parsePreparedWeb(written: string): WebPart | Ssl {
  if (written.startsWith('"')) return JSON.parse(written) as Ssl
  const end = written.indexOf(TEXT_SEPARATOR)
  const [has_website, redirect_to_https, redirect_to_www, only_with_www, redirects_to, ssl, accounts, redirect_host] =
    JSON.parse(written.slice(0, end))
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
    ...(redirect_host !== undefined && { redirect_host }),
    ssl,
    social_accounts,
    text,
  }
}

/** 48 bits of SHA-256: one changed part in 2.8 * 10^14 would be taken for unchanged until its next change. */
function fingerprintOf(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16) || 1
}
