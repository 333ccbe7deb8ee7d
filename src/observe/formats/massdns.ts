/** Output of massdns (https://github.com/blechschmidt/massdns): full text (-o F), JSON (-o J) and simple text (-o S), told by their lines. */

import { BEGIN, fullText } from './massdns-full.ts'
import { readJson } from './massdns-json.ts'
import { simpleText } from './massdns-simple.ts'
import type { Format, LineReader } from './sighting.ts'

export const massdns: Format = (observedAt) => {
  let isFull = false
  let text: LineReader = simpleText(observedAt)
  return {
    take(line) {
      if (line.startsWith('{')) return readJson(line, observedAt)
      if (isFull || !line.startsWith(BEGIN)) return text.take(line)
      const made = text.end()
      isFull = true
      text = fullText(observedAt)
      text.take(line)
      return made
    },
    end: () => text.end(),
  }
}
