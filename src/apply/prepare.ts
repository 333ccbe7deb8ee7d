/** An observation made ready to be compared: the canonical text of its record sets, and a fingerprint of each part. */

import { hash } from 'node:crypto'
import type { DnsPart, Observation, WebPart } from '../observe/observation.ts'
import { RECORD_TYPES, type RecordType, recordsText } from '../words/record.ts'

/** `texts` has a key for each record type that was asked. A fingerprint is a whole number from 1 to 2^48 - 1, 0 without the part. */
export type Prepared = {
  observation: Observation
  texts: Partial<Record<RecordType, string>>
  dnsPrint: number
  webPrint: number
}

export function prepare(observation: Observation): Prepared {
  const texts = observation.dns ? recordTexts(observation.dns) : {}
  return {
    observation,
    texts,
    dnsPrint: observation.dns ? printOf(observation.dns.status + JSON.stringify(texts)) : 0,
    webPrint: observation.web ? printOf(webText(observation.web)) : 0,
  }
}

function recordTexts(dns: DnsPart): Partial<Record<RecordType, string>> {
  const texts: Partial<Record<RecordType, string>> = {}
  for (const type of RECORD_TYPES) {
    const records = dns.records[type]
    if (records) texts[type] = recordsText(records)
  }
  return texts
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
