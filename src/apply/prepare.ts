/** An observation made ready to be compared: the canonical text of its record sets, and a fingerprint of each part. */

import { hash } from 'node:crypto'
import type { DnsPart, DnsStatus, Observation, WebPart } from '../observe/observation.ts'
import type { Name } from '../words/name.ts'
import { RECORD_TYPES, type RecordType } from '../words/record.ts'
import { recordsText } from '../words/record-text.ts'
import type { Instant } from '../words/time.ts'

/**
 * `texts` has a key for each record type that was asked. `status` and `web` are null without their part.
 * A fingerprint is a whole number from 1 to 2^48 - 1, 0 without the part.
 */
export type Prepared = {
  name: Name
  observed_at: Instant
  status: DnsStatus | null
  texts: Partial<Record<RecordType, string>>
  web: WebPart | null
  dnsPrint: number
  webPrint: number
}

export function prepare({ domain, observed_at, dns, web }: Observation): Prepared {
  const texts = dns ? recordTexts(dns) : {}
  return {
    name: domain,
    observed_at,
    status: dns?.status ?? null,
    texts,
    web,
    dnsPrint: dns ? printOf(dnsText(dns.status, texts)) : 0,
    webPrint: web ? printOf(webText(web)) : 0,
  }
}

function recordTexts(dns: DnsPart): Partial<Record<RecordType, string>> {
  const texts: Partial<Record<RecordType, string>> = {}
  for (const type of RECORD_TYPES) {
    const records = dns.records[type]
    if (records) texts[type] = recordsText(type, records)
  }
  return texts
}

function dnsText(status: DnsStatus, texts: Prepared['texts']): string {
  let text: string = status
  for (const type of RECORD_TYPES) if (texts[type] !== undefined) text += `\n${type}${texts[type]}`
  return text
}

function webText(web: WebPart): string {
  const facts = [
    web.has_website,
    web.redirect_to_https,
    web.redirect_to_www,
    web.only_with_www,
    web.redirects_to,
    web.ssl,
    web.social_accounts.map(({ network, type, username, url }) => [network, type, username, url]),
  ]
  return JSON.stringify(facts) + (web.text ?? '')
}

/** 48 bits of SHA-256: one changed part in 2.8 * 10^14 would be taken for unchanged until its next change. */
function printOf(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16) || 1
}
