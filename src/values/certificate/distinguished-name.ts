/** The text of a distinguished name of a certificate, such as its issuer (RFC 4514). Pure. */

import { type DerElement, elementAt, identifierText, latin1Text, OBJECT_IDENTIFIER, SEQUENCE } from './der.ts'

const SET = 0x31
const UTF8_STRING = 0x0c
const BMP_STRING = 0x1e
const UNIVERSAL_STRING = 0x1c
/** PrintableString, TeletexString, IA5String and VisibleString: read as Latin-1. */
const BYTE_STRINGS = [0x13, 0x14, 0x16, 0x1a]

/** The short names of RFC 4514, section 3. Other attributes are written as their object identifier. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'STREET',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.25': 'DC',
}

/**
 * Returns the name as RFC 4514 writes it: the most specific part first, parts separated by commas. A value that is not
 * a text is written as `#` and hex. `name`: a SEQUENCE. Throws MalformedCertificate.
 */
export function distinguishedName(der: Uint8Array, name: DerElement): string {
  const parts: string[] = []
  for (let at = name.from; at < name.to; ) {
    const set = elementAt(der, at, name.to, SET)
    parts.unshift(attributesOf(der, set).join('+'))
    at = set.to
  }
  return parts.join(',')
}

function attributesOf(der: Uint8Array, set: DerElement): string[] {
  const attributes: string[] = []
  for (let at = set.from; at < set.to; ) {
    const attribute = elementAt(der, at, set.to, SEQUENCE)
    const type = elementAt(der, attribute.from, attribute.to, OBJECT_IDENTIFIER)
    const id = identifierText(der, type)
    attributes.push(`${SHORT_NAMES[id] ?? id}=${valueText(der, type.to, attribute.to)}`)
    at = attribute.to
  }
  return attributes
}

function valueText(der: Uint8Array, at: number, end: number): string {
  const value = elementAt(der, at, end)
  const bytes = Buffer.from(der.buffer, der.byteOffset + value.from, value.to - value.from)
  if (BYTE_STRINGS.includes(value.tag)) return escaped(latin1Text(der, value.from, value.to))
  if (value.tag === UTF8_STRING) return escaped(bytes.toString('utf8'))
  if (value.tag === BMP_STRING && bytes.length % 2 === 0)
    return escaped(Buffer.from(bytes).swap16().toString('utf16le'))
  if (value.tag === UNIVERSAL_STRING && bytes.length % 4 === 0) return escaped(utf32Text(bytes))
  return `#${Buffer.from(der.buffer, der.byteOffset + at, value.to - at).toString('hex')}`
}

function utf32Text(bytes: Buffer): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 4) {
    const code = bytes.readUInt32BE(at)
    text += code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code)
  }
  return text
}

/** Escapes as RFC 4514, section 2.4. Control characters are escaped too, which the RFC permits. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/["+,;<>\\]|^[ #]| $/g, '\\$&')
    .replace(/\p{Cc}/gu, (control) => Buffer.from(control).toString('hex').replace(/../g, '\\$&'))
}
