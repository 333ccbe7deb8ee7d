/** The value type of a domain name in canonical form: lower-case A-labels without a trailing dot. */
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { getDomain } from 'tldts'
import { addToHash, EMPTY_HASH, mixHash } from './name-hash.ts'
import { refang } from './pasted/defanged.ts'
import { MAX_LABEL_BYTES } from './records/host-name.ts'

export type DomainName = string & { readonly __brand: 'DomainName' }

const MAX_NAME_BYTES = 253 // RFC 1035, section 2.3.4: 255 bytes on the wire
const MAX_UNICODE_UNITS = 1024 // larger than MAX_NAME_BYTES because UTS 46 drops some characters
const NAME_TOO_LONG = `the name is longer than ${MAX_NAME_BYTES} bytes`
const PUBLIC_SUFFIX_OPTIONS = {
  allowPrivateDomains: true,
  extractHostname: false,
  validateHostname: false,
  detectIp: false,
}

// The kind of each ASCII character in a name; 0 if a name cannot contain it.
const LOWER_CASE = 1
const UPPER_CASE = 2
const DIGIT = 3
const DOT = 4
const CHARACTER_KINDS = new Uint8Array(128)
for (const char of 'abcdefghijklmnopqrstuvwxyz-_') CHARACTER_KINDS[char.charCodeAt(0)] = LOWER_CASE
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') CHARACTER_KINDS[char.charCodeAt(0)] = UPPER_CASE
for (const char of '0123456789') CHARACTER_KINDS[char.charCodeAt(0)] = DIGIT
CHARACTER_KINDS['.'.charCodeAt(0)] = DOT

/**
 * Returns the canonical name of a text, or null if the text is not a domain name.
 * The function ignores surrounding white space, letter case and one trailing dot, and applies UTS 46 to characters
 * outside ASCII. It does not require a public suffix. ASCII labels are not checked further: an undecodable `xn--` label
 * and hyphens at the edges are valid.
 */
export function parseName(text: string): DomainName | null {
  const trimmed = text.trim()
  const end = trimmed.endsWith('.') ? trimmed.length - 1 : trimmed.length
  let start = 0 // of the label being read
  let upper = false
  let digitsOnly = true
  for (let at = 0; at < end; at++) {
    const code = trimmed.charCodeAt(at)
    if (code > 127) return parseUnicodeName(trimmed)
    const kind = CHARACTER_KINDS[code]
    if (kind === 0) return null
    if (kind === DOT) {
      if (at === start || at - start > MAX_LABEL_BYTES) return null
      start = at + 1
      digitsOnly = true
    } else if (kind !== DIGIT) {
      digitsOnly = false
      if (kind === UPPER_CASE) upper = true
    }
  }
  if (start === 0 || start === end || end - start > MAX_LABEL_BYTES || end > MAX_NAME_BYTES || digitsOnly) return null
  const name = end === trimmed.length ? trimmed : trimmed.slice(0, end)
  return (upper ? name.toLowerCase() : name) as DomainName
}

/**
 * Returns the canonical name of a text with characters outside ASCII, by UTS 46.
 * It checks the ASCII characters first, because domainToASCII decodes %41, drops tabs and cuts at a slash.
 */
function parseUnicodeName(text: string): DomainName | null {
  if (text.length > MAX_UNICODE_UNITS) return null
  for (let at = 0; at < text.length; at++) if (CHARACTER_KINDS[text.charCodeAt(at)] === 0) return null
  return parseName(domainToASCII(text))
}

/** One English phrase: why a text is not a domain name, and what to send instead. '' for a domain name. */
export function nameProblem(text: string): string {
  if (parseName(text) !== null) return ''
  const trimmed = text.trim()
  const plain = refang(trimmed)
  const inner = nameInUrl(plain)
  const isDefanged = plain !== trimmed && inner !== null
  return `${isDefanged ? 'the name is defanged' : describeNameProblem(plain)}; send ${inner ?? 'a bare domain name such as example.com'}`
}

/** The name inside a URL (scheme, user, port, path), or null. */
function nameInUrl(text: string): DomainName | null {
  return parseName(hostAndPortOf(text).replace(/:\d*$/, ''))
}

/** A URL, with or without its scheme, reduced to its host and port. */
export function hostAndPortOf(text: string): string {
  const [authority = ''] = text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').split(/[/?#\\]/, 1)
  return authority.replace(/^.*@/s, '')
}

function describeNameProblem(text: string): string {
  if (text === '' || text === '.') return 'the name is empty'
  if (looksLikeAddress(text)) return 'an address is no domain name'
  if (text.includes('://')) return 'a scheme does not belong to the name'
  if (/[/\\?#]/.test(text)) return 'a slash or path does not belong to the name'
  if (text.includes('@')) return 'a mailbox is not a domain name'
  if (/:\d*$/.test(text)) return 'a port does not belong to the name'
  if (/\s/.test(text)) return 'there is white space inside the name'
  return describeLabelProblem(text)
}

function describeLabelProblem(text: string): string {
  if (text.length > MAX_UNICODE_UNITS) return NAME_TOO_LONG
  const ascii = /^[\w.-]*$/.test(text) ? text : domainToASCII(text)
  if (ascii === '' || /[^\w.\u0080-\uffff-]/.test(text))
    return 'only letters, digits, - and _ may stand between the dots'
  const labels = ascii.replace(/\.$/, '').split('.')
  if (labels.includes('')) return 'there is an empty label between two dots or in front'
  if (labels.some((label) => label.length > MAX_LABEL_BYTES)) return `a label is longer than ${MAX_LABEL_BYTES} bytes`
  if (labels.length === 1) return 'the name has no dot'
  if (labels.join('.').length > MAX_NAME_BYTES) return NAME_TOO_LONG
  return 'the last label is digits only, as in an address'
}

/** Whether a text is an IP address, with or without brackets, port, zone and prefix length. */
export function looksLikeAddress(text: string): boolean {
  const bare = text.replace(/^\[(.*)\].*$/, '$1').replace(/\/\d*$/, '')
  return isIP(bare) > 0 || isIP(bare.replace(/:\d*$/, '')) > 0
}

/** The registrable domain by the public suffix list with its private section. A public suffix is returned unchanged. */
export function registrableDomain(name: DomainName): DomainName {
  return registrableDomainOrNull(name) ?? name
}

/** Same as `registrableDomain`, but null for a public suffix. */
export function registrableDomainOrNull(name: DomainName): DomainName | null {
  return getDomain(name, PUBLIC_SUFFIX_OPTIONS) as DomainName | null
}

/** The slot of a name, 0 to 65535: the upper half of its hash. */
export function slotOf(name: DomainName): number {
  let hash = EMPTY_HASH
  for (let at = 0; at < name.length; at++) hash = addToHash(hash, name.charCodeAt(at))
  return mixHash(hash) >>> 16
}

/** The number of slot ranges. Crawlers lease slots by range: all slots with the same upper byte. */
export const SLOT_RANGES = 256
export const SLOTS_PER_RANGE = 256
export const SLOT_COUNT = SLOT_RANGES * SLOTS_PER_RANGE

/** The range of a name's slot, 0 to 255. */
export function slotRangeOf(name: DomainName): number {
  return slotOf(name) >> 8
}
