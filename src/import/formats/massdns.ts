/**
 * Reads massdns output (https://github.com/blechschmidt/massdns): full text (-o F), JSON (-o J) and simple text (-o S).
 * It recognizes the form by its lines.
 */

import { FULL_TEXT_START, massdnsFullText } from './massdns-full.ts'
import { parseMassdnsJson } from './massdns-json.ts'
import { massdnsSimpleText } from './massdns-simple.ts'
import type { ImportFormat, LineParser } from './sighting.ts'

export const massdnsFormat: ImportFormat = (observedAt) => {
  let isFull = false
  let text: LineParser = massdnsSimpleText(observedAt)
  return {
    parseLine(line) {
      if (line.startsWith('{')) return parseMassdnsJson(line, observedAt)
      if (isFull || !line.startsWith(FULL_TEXT_START)) return text.parseLine(line)
      const completed = text.end()
      isFull = true
      text = massdnsFullText(observedAt)
      text.parseLine(line)
      return completed
    },
    end: () => text.end(),
  }
}
