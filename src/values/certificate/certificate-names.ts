/** Reads the dNSName entries of a certificate or of the TBSCertificate of a precertificate (RFC 5280). Pure. */

import { type DerElement, elementAt, latin1Text, MalformedCertificate, OBJECT_IDENTIFIER, SEQUENCE } from './der.ts'

/** Maximum of names that one certificate yields, and of its bytes. Authorities limit the names to some hundreds. */
const MAX_NAMES = 10_000
export const MAX_CERTIFICATE_BYTES = 262_144

const OCTET_STRING = 0x04
const EXTENSIONS = 0xa3
const DNS_NAME = 0x82
/** 2.5.29.17, subjectAltName. */
const SUBJECT_ALT_NAME = Buffer.from([0x55, 0x1d, 0x11])

/**
 * Returns the names as they are written, at most MAX_NAMES. `isTbs`: the bytes are a TBSCertificate. Throws
 * MalformedCertificate.
 */
export function certificateNames(der: Uint8Array, isTbs: boolean): string[] {
  if (der.length > MAX_CERTIFICATE_BYTES)
    throw new MalformedCertificate(`it has more than ${MAX_CERTIFICATE_BYTES} bytes`)
  const whole = elementAt(der, 0, der.length, SEQUENCE)
  const tbs = isTbs ? whole : elementAt(der, whole.from, whole.to, SEQUENCE)
  for (let at = tbs.from; at < tbs.to; ) {
    const element = elementAt(der, at, tbs.to)
    if (element.tag === EXTENSIONS) return namesInExtensions(der, elementAt(der, element.from, element.to, SEQUENCE))
    at = element.to
  }
  return []
}

function namesInExtensions(der: Uint8Array, { from, to }: DerElement): string[] {
  for (let at = from; at < to; ) {
    const extension = elementAt(der, at, to, SEQUENCE)
    at = extension.to
    const id = elementAt(der, extension.from, extension.to, OBJECT_IDENTIFIER)
    if (!SUBJECT_ALT_NAME.equals(der.subarray(id.from, id.to))) continue
    let value = elementAt(der, id.to, extension.to)
    if (value.tag !== OCTET_STRING) value = elementAt(der, value.to, extension.to, OCTET_STRING) // after `critical`
    return namesInList(der, elementAt(der, value.from, value.to, SEQUENCE))
  }
  return []
}

function namesInList(der: Uint8Array, { from, to }: DerElement): string[] {
  const names: string[] = []
  for (let at = from; at < to && names.length < MAX_NAMES; ) {
    const name = elementAt(der, at, to)
    if (name.tag === DNS_NAME) names.push(latin1Text(der, name.from, name.to))
    at = name.to
  }
  return names
}
