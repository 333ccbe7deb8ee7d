/** Defanged text: names and addresses as security reports write them, so that nobody opens them by mistake. */

const DEFANGED_SCHEME = /^hxxp(s?)(?=\[?:)/i
const DEFANGED_COLON = /\[:(\/\/)?\]/g
const DEFANGED_DOT = /\[(?:\.|dot)\]|\((?:\.|dot)\)|\{(?:\.|dot)\}|\[\.|\.\]/gi

/** The text that a defanged one stands for: `hxxps[:]//example[.]com` becomes `https://example.com`. Other text stays as it is. */
export function refang(text: string): string {
  return text.replace(DEFANGED_SCHEME, 'http$1').replace(DEFANGED_COLON, ':$1').replace(DEFANGED_DOT, '.')
}
