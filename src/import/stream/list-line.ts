/** Parses a line of a list of names: removes comments and a rank. */

/** `1,example.com`, as lists of popular sites write it. A tab may replace the comma. */
const RANK_COLUMN = /^\d{1,12}[ \t]*[,\t][ \t]*(?=.)/

/**
 * Returns the part of a line that should be a name: without surrounding white space, without a comment after `#`, and
 * without a leading rank column. Returns '' for an empty line and for a comment.
 */
export function parseListLine(line: string): string {
  const commentStart = line.indexOf('#')
  return (commentStart < 0 ? line : line.slice(0, commentStart)).trim().replace(RANK_COLUMN, '')
}
