/**
 * The way out for observations: one of them becomes a line of a file, which parseObservation reads as the same again.
 */

import { RECORD_TYPES, type RecordsByType, type RecordType } from '../values/dns-record.ts'
import { formatInstant } from '../values/time.ts'
import type { DnsPart, Observation, WebPart } from './observation.ts'

/** How a record stands in a file; one of MX or SOA as it is. */
const RECORD_WRITERS: { [T in RecordType]: (record: RecordsByType[T][number]) => unknown } = {
  A: ({ ipv4_address }) => ipv4_address,
  AAAA: ({ ipv6_address }) => ipv6_address,
  MX: (record) => record,
  TXT: ({ parts }) => parts,
  NS: ({ nameserver }) => nameserver,
  SOA: (record) => record,
  CNAME: ({ target }) => target,
}

/** The observation as one line of JSON without its end, in the format of docs/data-sources.md. */
export function writeObservation({ domain, observed_at, dns, web }: Observation): string {
  return JSON.stringify({
    domain,
    observed_at: `${formatInstant(observed_at)}Z`,
    ...(dns && { dns: dnsToJson(dns) }),
    ...(web && { web: webToJson(web) }),
  })
}

function dnsToJson({ status, records }: DnsPart): object {
  const lists = RECORD_TYPES.flatMap((type) => {
    const set = records[type]
    return set === undefined
      ? []
      : [[type, (set as RecordsByType[RecordType]).map(RECORD_WRITERS[type] as (record: object) => unknown)]]
  })
  return { status, ...Object.fromEntries(lists) }
}

/** `redirects_to` is written as the host at which the redirects ended; a page without text without the key. */
function webToJson({ text, redirect_host, ...web }: WebPart): object {
  const written = { ...web, redirects_to: redirect_host ?? web.redirects_to }
  return text === null ? written : { ...written, text }
}
