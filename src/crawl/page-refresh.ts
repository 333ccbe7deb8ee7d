/** The meta refresh: where it sends the reader, and after how long. */

/** A later refresh is a page to be read, not a redirect. */
const MOST_SECONDS = 5

/** The number in front; nothing follows that could make it be tried again in another way. */
const TIME = /^[\t\n\f\r ]*(\d*)[\d.]*/
const BETWEEN = /^(?:[\t\n\f\r ]*[;,][\t\n\f\r ]*|[\t\n\f\r ]+|$)/
const TARGET = /^(?:url[\t\n\f\r ]*=[\t\n\f\r ]*)?(?:"([^"]*)|'([^']*)|(.*))/is

/**
 * The target in a `content`, '' for the page itself; null for what is no refresh, `late` for one that comes too late (HTML,
 * chapter 4.2.5.3: seconds, perhaps a separator, `url=` and a quote).
 */
export function readRefresh(content: string): string | 'late' | null {
  const [time = '', seconds = ''] = TIME.exec(content) ?? []
  const rest = content.slice(time.length)
  const between = BETWEEN.exec(rest)
  if (time.trim() === '' || between === null) return null
  if (Number(seconds) > MOST_SECONDS) return 'late'
  const [, double, single, bare] = TARGET.exec(rest.slice(between[0].length)) ?? []
  return (double ?? single ?? bare ?? '').trim()
}
