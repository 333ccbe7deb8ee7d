/** The meta refresh: its target and its delay. */

/** A page with a later refresh counts as a page, not as a redirect. */
const MAX_REFRESH_SECONDS = 5

/** The leading number. The pattern cannot backtrack. */
const REFRESH_TIME = /^[\t\n\f\r ]*(\d*)[\d.]*/
const REFRESH_SEPARATOR = /^(?:[\t\n\f\r ]*[;,][\t\n\f\r ]*|[\t\n\f\r ]+|$)/
const REFRESH_TARGET = /^(?:url[\t\n\f\r ]*=[\t\n\f\r ]*)?(?:"([^"]*)|'([^']*)|(.*))/is

/**
 * Parses a `content`: seconds, perhaps a separator, `url=` and a quote (HTML, section 4.2.5.3). Returns the target, ''
 * for the page itself, `too_late` for a long delay, or null if it is not a refresh.
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
