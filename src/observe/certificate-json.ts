/** The certificate of an observation in its written form: parsed with the reason of a rejection, and written. */

import { compareBytewise } from '../values/bytewise-order.ts'
import {
  type Certificate,
  isKeyType,
  MAX_ISSUER_LENGTH,
  parseCertificateName,
} from '../values/certificate/certificate.ts'
import { MAX_CERTIFICATE_NAMES, parseFingerprint } from '../values/certificate/fingerprint.ts'
import { isObject } from '../values/json-object.ts'
import { formatInstant, parseInstant } from '../values/time.ts'

/** Returns a certificate, canonical in every part, or why it is rejected. The reason continues after its key. */
export function parseCertificate(value: unknown): Certificate | string {
  if (!isObject(value)) return ': must be an object, or null'
  const sha256 = typeof value.sha256 === 'string' ? parseFingerprint(value.sha256) : null
  if (sha256 === null) return '.sha256: must have 64 hex digits'
  const { issuer, key } = value
  if (typeof issuer !== 'string') return '.issuer: must be a text'
  if (issuer.length > MAX_ISSUER_LENGTH) return `.issuer: must have at most ${MAX_ISSUER_LENGTH} characters`
  if (/\p{Cc}/u.test(issuer)) return '.issuer: must not contain control characters; write them as RFC 4514 does'
  const not_before = parseTime(value.not_before)
  if (not_before === null) return '.not_before: must be an RFC 3339 time such as 2026-11-20T03:04:05Z'
  const not_after = parseTime(value.not_after)
  if (not_after === null) return '.not_after: must be an RFC 3339 time such as 2026-11-20T03:04:05Z'
  const names = parseNames(value.names)
  if (typeof names === 'string') return `.names${names}`
  if (typeof key !== 'string' || !isKeyType(key)) return '.key: must be the type of a key, such as rsa-2048 or ec-p256'
  return { sha256, issuer: issuer.toWellFormed(), not_before, not_after, names, key }
}

function parseTime(value: unknown) {
  return typeof value === 'string' ? parseInstant(value) : null
}

/** Returns the names in byte order, each once. */
function parseNames(value: unknown): string[] | string {
  if (!Array.isArray(value)) return ': must be a list'
  if (value.length > MAX_CERTIFICATE_NAMES) return `: must hold at most ${MAX_CERTIFICATE_NAMES} names`
  const names = new Set<string>()
  for (const [index, each] of value.entries()) {
    const name = typeof each === 'string' ? parseCertificateName(each) : null
    if (name === null) return `[${index}]: must be a domain name, or *. and a domain name`
    names.add(name)
  }
  return [...names].sort(compareBytewise)
}

/** Returns a certificate with times as texts. */
export function certificateToJson({ sha256, issuer, not_before, not_after, names, key }: Certificate): object {
  const [from, to] = [`${formatInstant(not_before)}Z`, `${formatInstant(not_after)}Z`]
  return { sha256, issuer, not_before: from, not_after: to, names, key }
}
