/** The meta refresh: where it sends the reader, and after how long. */

/** A later refresh is a page to be read, not a redirect. */
const MOST_SECONDS = 5

/** Seconds, then perhaps a separator, `url=` and a quote (HTML, chapter 4.2.5.3, shared declarative refresh steps). */
const REFRESH = /^[\t\n\f\r ]*(\d+|(?=\.))[\d.]*(?:[\t\n\f\r ]*[;,][\t\n\f\r ]*|[\t\n\f\r ]+|$)(.*)$/s
const TARGET = /^(?:url[\t\n\f\r ]*=[\t\n\f\r ]*)?(?:"([^"]*)|'([^']*)|(.*))/is

/** The target of a `content`, '' for the page itself; null for no refresh, `late` for one that comes too late. */
export function readRefresh(content: string): string | 'late' | null {
  const [, seconds, rest] = REFRESH.exec(content) ?? []
  if (seconds === undefined || rest === undefined) return null
  if (Number(seconds) > MOST_SECONDS) return 'late'
  const [, double, single, bare] = TARGET.exec(rest) ?? []
  return (double ?? single ?? bare ?? '').trim()
}
