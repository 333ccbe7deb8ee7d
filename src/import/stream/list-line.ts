/** A line of a list of names: what stands on it beside comments and a rank. */

/** `1,example.com` as the lists of popular sites write it; a tab may stand for the comma. */
const RANK_COLUMN = /^\d{1,12}[ \t]*[,\t][ \t]*(?=.)/

/**
 * The part of a line that is meant to be a name: without white space around it, without what follows a `#`, and without
 * a leading rank column. Returns '' for an empty line and for a comment.
 */
export function parseListLine(line: string): string {
  const mark = line.indexOf('#')
  return (mark < 0 ? line : line.slice(0, mark)).trim().replace(RANK_COLUMN, '')
}
