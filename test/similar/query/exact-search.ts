/** The reference: exact cosines of whole texts, whose words are separated by spaces. */

import type { SimilarRow } from '../../../src/similar/query/similarity-service.ts'
import { name } from '../../store/conformance/world.ts'

type Words = ReadonlyMap<string, number>

/** The words of a text with their counts. */
export function wordsOf(text: string): Words {
  const words = new Map<string, number>()
  for (const word of text.toLowerCase().split(' ')) if (word !== '') words.set(word, (words.get(word) ?? 0) + 1)
  return words
}

/** Equal for texts with the same words and counts. */
export function documentOf(text: string): string {
  return [...wordsOf(text)]
    .map(([word, count]) => `${word}*${count}`)
    .sort()
    .join(' ')
}

/**
 * The rows for a name: every other page by its cosine with weights (1 + ln count) * ln((N + 1) / pages).
 * N and pages count the distinct documents in `counted`. IDF values have single precision, so that roundings are the
 * same.
 */
export function nearest(
  live: ReadonlyMap<string, string>,
  counted: readonly string[],
  asked: string,
  limit: number,
): SimilarRow[] {
  const own = live.get(asked)!
  const weigh = weighing(counted)
  const page = weigh(own)
  const rows: { target: string; score: number }[] = []
  for (const [target, text] of live) {
    if (target === asked || wordsOf(text).size === 0) continue
    const score =
      documentOf(text) === documentOf(own) ? 10_000 : Math.min(9_999, Math.round(10_000 * cosine(page, weigh(text))))
    if (score > 0) rows.push({ target, score })
  }
  rows.sort((a, b) => b.score - a.score || (a.target < b.target ? -1 : 1))
  return rows.slice(0, limit).map(({ target, score }) => ({ target: name(target), similarity: score / 10_000 }))
}

function weighing(counted: readonly string[]): (text: string) => Map<string, number> {
  const distinct = [...new Map(counted.map((text) => [documentOf(text), wordsOf(text)])).values()]
  const pages = new Map<string, number>()
  for (const words of distinct) for (const word of words.keys()) pages.set(word, (pages.get(word) ?? 0) + 1)
  const idf = (word: string) => Math.fround(Math.log((distinct.length + 1) / (pages.get(word) ?? 1)))
  return (text) => new Map([...wordsOf(text)].map(([word, count]) => [word, (1 + Math.log(count)) * idf(word)]))
}

function cosine(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  const dot = [...one].reduce((sum, [word, weight]) => sum + weight * (other.get(word) ?? 0), 0)
  return dot === 0 ? 0 : dot / (Math.hypot(...one.values()) * Math.hypot(...other.values()))
}
