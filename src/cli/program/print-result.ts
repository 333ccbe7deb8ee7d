/** How a command prints its result: as lines for people, or with --json as one object. */

/** Prints one JSON object, or the lines. */
export function printResult(json: boolean | undefined, object: object, lines: readonly string[]): void {
  if (json) console.log(JSON.stringify(object))
  else if (lines.length > 0) console.log(lines.join('\n'))
}
