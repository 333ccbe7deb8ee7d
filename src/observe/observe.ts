/** Derives an observation from a probe result. */

import type { CertificateResult, ProbeResult, WebProbeResult } from '../probe/probe-result.ts'
import type { DomainName } from '../values/domain-name.ts'
import { toDnsPart } from './dns-part.ts'
import { MAX_WEB_TEXT_BYTES, type Observation, type Ssl, type WebPart } from './observation.ts'
import { socialAccounts } from './social/social-accounts.ts'
import { judgeWebsite } from './website.ts'

/** A run of white space and control characters, which becomes one space. A single space does not match. */
const WHITE_SPACE_RUN = /[\s\p{Cc}](?:[\s\p{Cc}]+|(?<! ))/gu

/** Characters that only mark where a word may be broken. */
const INVISIBLE_CHARACTERS = /[\u00ad\u200b\u2060]/g

/**
 * A part is null if it could not be probed or judged for a local reason. The web part is also null if the name does not
 * exist or its servers failed. The certificate counts even if the redirects end where domaindex does not connect, such
 * as at another port.
 */
export function observe({ domain, at, dns, web }: ProbeResult): Observation {
  const dnsPart = dns === null ? null : toDnsPart(dns)
  const resolves = dnsPart === null || dnsPart.status === 'ok'
  const webResult = web !== null && resolves ? web : null
  const ssl = webResult === null ? null : sslVerdict(webResult.certificate)
  const webPart = webResult === null || ssl === null ? null : judgeWeb(webResult, domain, ssl)
  return { domain, observed_at: at, dns: dnsPart, web: webPart, ...(webPart === null && ssl !== null && { ssl }) }
}

function judgeWeb(result: WebProbeResult, domain: DomainName, ssl: Ssl): WebPart | null {
  const webPart = judgeWebsite(result, domain)
  if (webPart === null) return null
  const { page, ...facts } = webPart
  const social_accounts = page === null ? [] : socialAccounts(page, domain)
  return { ...facts, ssl, social_accounts, text: page === null ? null : startPageText(page.text) }
}

/** Returns null if the certificate was not probed. */
export function sslVerdict(certificate: CertificateResult): Ssl | null {
  if (certificate.kind === 'unknown') return null
  if (certificate.kind === 'none') return 'nocert'
  return certificate.error === null ? 'valid' : 'invalid'
}

/** Joins the pieces with one space, well-formed, cut at MAX_WEB_TEXT_BYTES. Returns null if nothing is left. */
export function startPageText(pieces: readonly string[]): string | null {
  const text = pieces.join(' ').replace(INVISIBLE_CHARACTERS, '').replace(WHITE_SPACE_RUN, ' ').toWellFormed()
  const cut = truncateToBytes(text.trim())
  return cut === '' ? null : cut
}

/** Returns the longest prefix of whole characters that fits. */
function truncateToBytes(text: string): string {
  if (Buffer.byteLength(text) <= MAX_WEB_TEXT_BYTES) return text
  const bytes = Buffer.from(text)
  let end = MAX_WEB_TEXT_BYTES
  while ((bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end).trimEnd()
}
