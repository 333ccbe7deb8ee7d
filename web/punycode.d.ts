/** The parts of the module punycode that the page uses. */

declare module 'punycode/punycode.es6.js' {
  /** Decodes the A-labels of a domain name (RFC 3492). Throws a RangeError for one that is invalid. */
  export function toUnicode(name: string): string
}
