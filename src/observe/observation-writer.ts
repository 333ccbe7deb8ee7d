/** Writes an observation as a line of a file, from which parseObservation reads the same observation. */

import type { Certificate } from '../values/certificate/certificate.ts'
import { RECORD_TYPES, type RecordsByType, type RecordType } from '../values/records/dns-record.ts'
import { formatInstant } from '../values/time.ts'
import { certificateToJson } from './certificate-json.ts'
import type { DnsPart, Observation, WebPart } from './observation.ts'

/** How a record is written. MX and SOA records are written as they are. */
const RECORD_WRITERS: { [T in RecordType]: (record: RecordsByType[T][number]) => unknown } = {
  A: ({ ipv4_address }) => ipv4_address,
  AAAA: ({ ipv6_address }) => ipv6_address,
  MX: (record) => record,
  TXT: ({ parts }) => parts,
  NS: ({ nameserver }) => nameserver,
  SOA: (record) => record,
  CNAME: ({ target }) => target,
}

/** Returns the observation as one line of JSON without a line break, in the format of docs/data-sources.md. */
export function writeObservation({ domain, observed_at, dns, web, presented }: Observation): string {
  return JSON.stringify({
    domain,
    observed_at: `${formatInstant(observed_at)}Z`,
    ...(dns && { dns: dnsToJson(dns) }),
    ...(web && { web: webToJson(web) }),
    ...(presented !== undefined && { web: { certificate: presentedToJson(presented) } }),
  })
}

function dnsToJson({ status, records, interrupted = [] }: DnsPart): object {
  const lists = RECORD_TYPES.flatMap((type) => {
    const set = records[type]
    return set === undefined
      ? []
      : [[type, (set as RecordsByType[RecordType]).map(RECORD_WRITERS[type] as (record: object) => unknown)]]
  })
  return { status, ...(interrupted.length > 0 && { interrupted }), ...Object.fromEntries(lists) }
}

/** Writes `redirects_to` as the final host of the redirects. A page without text has no key `text`. */
function webToJson({ text, redirect_host, certificate, ...web }: WebPart): object {
  const written = { ...web, redirects_to: redirect_host ?? web.redirects_to, ...(text !== null && { text }) }
  return certificate === undefined ? written : { ...written, certificate: presentedToJson(certificate) }
}

function presentedToJson(certificate: Certificate | null): object | null {
  return certificate === null ? null : certificateToJson(certificate)
}
