/** The Unicode form of a domain name with A-labels, for people to read. */

import { toUnicode } from 'punycode/punycode.es6.js'

/**
 * Returns null if the name has no A-label, or if the Unicode form is not exactly the same name: a label that does not
 * decode, or one that browsers write differently.
 */
export function unicodeName(name: string): string | null {
  if (!/(?:^|\.)xn--/.test(name)) return null
  try {
    const unicode = toUnicode(name)
    return unicode !== name && new URL(`http://${unicode}`).hostname === name ? unicode : null
  } catch {
    return null
  }
}
