/** Start-page texts that people sorted into 15 categories: how often similar pages have the same category. */

import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** `name`: contains the number of the row, because a site can occur twice. */
export type LabelledPage = { name: string; text: string; category: string }

/** Returns the indexes of at most `k` pages, the most similar first, without the page itself. */
export type Neighbours = (index: number, k: number) => readonly number[]

/** Shares from 0 to 1, with exact twins and without. */
export type Precision = { all: number; withoutTwins: number }

const FILE = new URL('../../../shared/data/pages/labelled-text/labelled-text.csv.gz', import.meta.url)

/**
 * Returns 707 pages with 687 distinct texts, or null if the sample data is absent. No field of the file contains a
 * comma or a quotation mark.
 */
export function readLabelled(): LabelledPage[] | null {
  if (!existsSync(FILE)) return null
  const [, ...rows] = gunzipSync(readFileSync(FILE)).toString().trimEnd().split(/\r?\n/)
  return rows.map((row) => {
    const [id, , text, category] = row.split(',')
    return { name: `page${id}.example`, text: text!, category: category! }
  })
}

/**
 * Returns the share of the first `k` neighbours of each page that have its category. A missing neighbour counts as
 * wrong.
 *
 * Twenty texts occur twice, always in the same category, so finding a twin proves nothing. The second figure therefore
 * counts each text once: a twin is neither a query nor a neighbour.
 */
export function precisionAt(k: number, pages: readonly LabelledPage[], neighbours: Neighbours): Precision {
  const indexes = pages.map((_, index) => index)
  const firstIndexes = new Map(pages.map(({ text }, index) => [text, index] as const).reverse())
  const isFirst = (index: number) => firstIndexes.get(pages[index]!.text) === index
  const twins = pages.length - firstIndexes.size
  const neighboursWithoutTwins = (index: number) =>
    neighbours(index, k + twins)
      .filter(isFirst)
      .slice(0, k)
  return {
    all: shareOf(k, pages, indexes, (index) => neighbours(index, k)),
    withoutTwins: shareOf(k, pages, indexes.filter(isFirst), neighboursWithoutTwins),
  }
}

function shareOf(
  k: number,
  pages: readonly LabelledPage[],
  queries: readonly number[],
  neighboursOf: (index: number) => readonly number[],
): number {
  let right = 0
  for (const index of queries) {
    for (const other of neighboursOf(index)) if (pages[other]!.category === pages[index]!.category) right++
  }
  return right / (k * queries.length)
}
