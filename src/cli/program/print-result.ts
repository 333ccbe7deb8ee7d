/** Prints the result of a command: as lines of text, or as one JSON object with --json. */

export function printResult(json: boolean | undefined, object: object, lines: readonly string[]): void {
  if (json) console.log(JSON.stringify(object))
  else if (lines.length > 0) console.log(lines.join('\n'))
}
