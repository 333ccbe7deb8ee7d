/** The meta refresh: where it sends the reader, and after how long. */

/** A later refresh is a page to be read, not a redirect. */
const MAX_REFRESH_SECONDS = 5

/** The number in front; nothing follows that could make it be tried again in another way. */
const REFRESH_TIME = /^[\t\n\f\r ]*(\d*)[\d.]*/
const REFRESH_SEPARATOR = /^(?:[\t\n\f\r ]*[;,][\t\n\f\r ]*|[\t\n\f\r ]+|$)/
const REFRESH_TARGET = /^(?:url[\t\n\f\r ]*=[\t\n\f\r ]*)?(?:"([^"]*)|'([^']*)|(.*))/is

/**
 * The target in a `content`, '' for the page itself; null for what is no refresh, `late` for one that comes too late (HTML,
 * chapter 4.2.5.3: seconds, perhaps a separator, `url=` and a quote).
 */
export function parseMetaRefresh(content: string): string | 'too_late' | null {
  const [time = '', seconds = ''] = REFRESH_TIME.exec(content) ?? []
  const rest = content.slice(time.length)
  const between = REFRESH_SEPARATOR.exec(rest)
  if (time.trim() === '' || between === null) return null
  if (Number(seconds) > MAX_REFRESH_SECONDS) return 'too_late'
  const [, double, single, bare] = REFRESH_TARGET.exec(rest.slice(between[0].length)) ?? []
  return (double ?? single ?? bare ?? '').trim()
}
