/** Defanged text: names and addresses as security reports write them, so that nobody opens them by mistake. */

const SCHEME = /^hxxp(s?)(?=\[?:)/i
const COLON = /\[:(\/\/)?\]/g
const DOT = /\[(?:\.|dot)\]|\((?:\.|dot)\)|\{(?:\.|dot)\}|\[\.|\.\]/gi

/** The text that a defanged one stands for: `hxxps[:]//example[.]com` becomes `https://example.com`. Other text stays as it is. */
export function refang(text: string): string {
  return text.replace(SCHEME, 'http$1').replace(COLON, ':$1').replace(DOT, '.')
}
