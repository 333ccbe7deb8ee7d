/** Parses a day on the command line. */

import { InvalidArgumentError } from 'commander'
import { type Day, parseDay } from '../../values/time.ts'

/** Throws InvalidArgumentError if the text is not a day. */
export function parseDayArgument(text: string): Day {
  const day = parseDay(text)
  if (day === null) throw new InvalidArgumentError('It must be a day such as 2026-11-20.')
  return day
}
