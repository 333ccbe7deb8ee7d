/** A short name of a browser and its system, so that the owner of a session can tell which one it is. */

/** In the order in which they are looked for: many browsers name others too. */
const BROWSERS: readonly [name: string, pattern: RegExp][] = [
  ['Edge', /\bEdg(A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
]
const SYSTEMS: readonly [name: string, pattern: RegExp][] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
]
const MAX_OTHER_LENGTH = 40

/** `Firefox on Linux`; for other clients the start of the header User-Agent. */
export function browserName(userAgent = ''): string {
  const find = (table: typeof BROWSERS) => table.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)]
  if (browser === undefined) return userAgent.slice(0, MAX_OTHER_LENGTH).trim() || 'unknown'
  return system === undefined ? browser : `${browser} on ${system}`
}
