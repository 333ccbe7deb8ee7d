/** Reads defanged text: names and addresses that security reports write so that nobody opens them by mistake. */

const DEFANGED_SCHEME = /^hxxp(s?)(?=\[?:)/i
const DEFANGED_COLON = /\[:(\/\/)?\]/g
const DEFANGED_DOT = /\[(?:\.|dot)\]|\((?:\.|dot)\)|\{(?:\.|dot)\}|\[\.|\.\]/gi

/** Turns `hxxps[:]//example[.]com` into `https://example.com`. Text that is not defanged stays unchanged. */
export function refang(text: string): string {
  return text.replace(DEFANGED_SCHEME, 'http$1').replace(DEFANGED_COLON, ':$1').replace(DEFANGED_DOT, '.')
}
