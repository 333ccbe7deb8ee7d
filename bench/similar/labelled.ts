/** Start-page texts that people sorted into 15 categories: how often what reads alike is of the same one. */

import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** `name`: made of the row's number, since a site may be there twice. */
export type Labelled = { name: string; text: string; category: string }

/** The places of at most `k` pages, the most similar first, not that of the page itself. */
export type Neighbours = (place: number, k: number) => readonly number[]

/** Shares from 0 to 1, with exact twins and without. */
export type Precision = { all: number; withoutTwins: number }

const FILE = new URL('../../../shared/data/pages/labelled-text/labelled-text.csv.gz', import.meta.url)

/**
 * 707 pages in 687 texts, or null where the sample data is absent. No field of the file has a comma or a quotation mark
 * in it.
 */
export function readLabelled(): Labelled[] | null {
  if (!existsSync(FILE)) return null
  const [, ...rows] = gunzipSync(readFileSync(FILE)).toString().trimEnd().split(/\r?\n/)
  return rows.map((row) => {
    const [id, , text, category] = row.split(',')
    return { name: `page${id}.example`, text: text!, category: category! }
  })
}

/**
 * Of the first `k` neighbours of each page, the share that is of its category; a neighbour that is missing counts as
 * wrong.
 *
 * Twenty texts stand there twice, always under the same category, and whoever finds a twin is right for no merit: so
 * the figure is given of all pages, and again as if each text stood there once, the twin being neither asked for nor
 * answered.
 */
export function precisionAt(k: number, pages: readonly Labelled[], neighbours: Neighbours): Precision {
  const places = pages.map((_, place) => place)
  const firsts = new Map(pages.map(({ text }, place) => [text, place] as const).reverse())
  const isFirst = (place: number) => firsts.get(pages[place]!.text) === place
  const twins = pages.length - firsts.size
  const single = (place: number) =>
    neighbours(place, k + twins)
      .filter(isFirst)
      .slice(0, k)
  return {
    all: shareOf(k, pages, places, (place) => neighbours(place, k)),
    withoutTwins: shareOf(k, pages, places.filter(isFirst), single),
  }
}

function shareOf(
  k: number,
  pages: readonly Labelled[],
  asked: readonly number[],
  found: (place: number) => readonly number[],
): number {
  let right = 0
  for (const place of asked) {
    for (const other of found(place)) if (pages[other]!.category === pages[place]!.category) right++
  }
  return right / (k * asked.length)
}
