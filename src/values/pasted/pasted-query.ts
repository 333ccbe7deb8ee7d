/** Reads what people paste as a query: domains, addresses, URLs and email addresses, also defanged. */

import { refang } from './defanged.ts'

export type PastedQuery = { kind: 'domain' | 'ip'; value: string }

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/
const IPV6 = /^[\da-f:]*:[\da-f:]*:[\da-f:.]*$/i
const PREFIX_LENGTH = /\/\d{1,3}$/

/**
 * Returns null if the text contains no domain and no address. A number above 255 makes an IPv4 address invalid. A range
 * such as 192.0.2.0/24 is not an address. It does not validate a domain: the server does, and says what is wrong with it.
 */
export function parsePastedQuery(text: string): PastedQuery | null {
  const plain = plainText(text)
  const host = hostOf(plain)
  if (host === '' || isRange(plain)) return null
  if (IPV4.test(host)) return host.split('.').every((byte) => Number(byte) < 256) ? { kind: 'ip', value: host } : null
  if (IPV6.test(host)) return { kind: 'ip', value: host.toLowerCase() }
  const name = host.replace(/\.$/, '').toLowerCase()
  if (!name.includes('.') || /\s/.test(name)) return null
  return { kind: 'domain', value: asciiName(name) }
}

/**
 * Reads what people enter to find names by a part of them: a word without a dot, a suffix such as `.bank`, a pattern with
 * `*`, `?` or `[a-z]`, or a regular expression between slashes. Null if the text is none of these.
 */
export function parsePastedSearch(text: string): string | null {
  const given = text.trim()
  if (/^\/.+\/$/.test(given)) return given
  const plain = refang(given)
  if (/^(?:\.[\w-]+)+$/.test(plain)) return `*${plain}`
  const isPattern = /^[\w.*?[\]!^-]+$/.test(plain) && /[*?[]/.test(plain)
  return isPattern || /^[\w-]+$/.test(plain) ? plain : null
}

/** The text of a network such as 192.0.2.0/24, which the server validates; null if the text is none. */
export function parsePastedNetwork(text: string): string | null {
  const plain = plainText(text)
  return isRange(plain) ? plain.toLowerCase() : null
}

/** The text without quotation marks, brackets and the like around it, and not defanged. */
function plainText(text: string): string {
  return refang(text.trim().replace(/^[<"'`([]+(?=[^\]]*$)|[>"'`),;]+$/g, ''))
}

function isRange(text: string): boolean {
  const address = text.replace(PREFIX_LENGTH, '')
  return address !== text && (IPV4.test(address) || IPV6.test(address))
}

/** The host of a URL, an email address or a host with a port. */
function hostOf(text: string): string {
  if (IPV6.test(text)) return text
  const afterScheme = text.replace(/^[a-z][a-z\d+.-]*:(?:\/\/)?(?=[^\d]|\d+\.)/i, '').replace(/^\/\//, '')
  const [authority = ''] = afterScheme.split(/[/?#\\]/, 1)
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(host) ?? []
  if (bracketed !== undefined) return bracketed
  return IPV6.test(host) ? host : host.replace(/:\d*$/, '')
}

/** A name with letters outside ASCII as A-labels, by UTS 46. */
function asciiName(name: string): string {
  if (/^[\w.-]*$/.test(name)) return name
  try {
    return new URL(`http://${name}`).hostname
  } catch {
    return name
  }
}
