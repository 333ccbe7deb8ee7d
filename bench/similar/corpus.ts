/**
 * A synthetic corpus of start pages from a seed, with the language, topic, template, farm and twin shares of the real
 * web.
 */

import type { DomainName } from '../../src/values/domain-name.ts'
import { type RandomSource, randomInt, seededRandom } from '../world/random.ts'
import { domainNameAt } from '../world/world.ts'
import { pageText } from './text.ts'
import { randomTopic } from './topics.ts'

export type CorpusPage = { name: string; text: string }

/** Shares of all pages, checked in this order: copies of another page's text, and pages of farms. */
const TWIN_SHARE = 0.03
const FARM_SHARE = 0.04
/** The number of subjects, farms and groups of twins for each page of the corpus so far. */
const SUBJECTS_PER_PAGE = 1 / 10
const FARMS_PER_PAGE = 1 / 600
const TWIN_GROUPS_PER_PAGE = 1 / 80
/**
 * How many of the first subjects, farms or groups are about equally large. The smaller the number, the larger the
 * largest of them.
 */
const SUBJECT_HEAD = 30
const FARM_HEAD = 1
const GROUP_HEAD = 4

const FARM_UNITS = 3000
const SALT = { page: 51, farm: 52, ordinary: 67 }

/**
 * Generates `count` pages of a seed. A smaller `count` gives the first pages of a larger one.
 *
 * Half of the pages are in the first of twelve languages, one in 100 is in the last, and one in 20 is in Han characters
 * without spaces. Lengths are log-normal around 200 words: a twentieth below 20, a fiftieth above 2,000. A fifth of the
 * words of a page repeat earlier ones. Of the rest, 1 to 7 % are the page's own (names, numbers) and 8 to 38 % belong
 * to its subject. Up to 15 % belong to a second subject, which a page in four has. 8 to 30 % belong to its category
 * (one of 60), and the others are common in its language. One page in five has no subject. There is one subject for
 * every ten pages, and a subject has 1 to 1,100 pages at 500,000. About half of the pages contain one of 300 templates
 * of 20 to 150 words, by Zipf's law. Of 100 pages, 4 belong to farms (up to 1,500 pages), whose text differs only in
 * the name and some numbers. 3 of 100 pages repeat another page (groups of 2 to 300).
 *
 * Measured on 50,000 pages of seed 1: the words of a page are 35, 208 and 836 at the 10th, 50th and 90th percentile.
 * The distinct words are 26, 135 and 421, and 194 on average. The first 1,000, 5,000, 20,000 and 50,000 pages have
 * 55,000, 186,000, 434,000 and 787,000 distinct words. 60 % of them are in one page only. The 10th, 100th, 1,000th and
 * 10,000th most frequent are in 16,500, 4,200, 914 and 139 pages. The exact cosine of 200 pages with their neighbours
 * of rank 1, 10 and 100 is 0.14, 0.09 and 0.05 at the 10th percentile. It is 0.30, 0.18 and 0.09 at the median, and
 * 0.73, 0.50 and 0.20 at the 90th percentile. 800 of them are about as similar to each other as the labelled texts
 * (rank 1: 0.22 and 0.16).
 */
export function* corpusPages(seed: number, count: number): Generator<CorpusPage> {
  for (let index = 0; index < count; index++) yield { name: corpusNameAt(seed, index), text: textAt(seed, index) }
}

/** Generates parked pages of one text, whose names do not occur in `corpusPages`. */
export function* parkedPages(seed: number, count: number): Generator<CorpusPage> {
  const text =
    'This domain is parked free of charge. The domain owner has not yet uploaded a website. Related searches: hosting, insurance, loans'
  for (let index = 0; index < count; index++) yield { name: corpusNameAt(seed, -1 - index), text }
}

/** Returns the name of the page at an index. */
export function corpusNameAt(seed: number, index: number): DomainName {
  return domainNameAt({ seed, names: 1, text: false }, index)
}

function textAt(seed: number, index: number): string {
  const random = seededRandom(seed, index, SALT.page)
  const kind = random()
  if (kind < TWIN_SHARE && index > 0)
    return ordinaryText(
      seed,
      randomHeavyTailed(random, index * TWIN_GROUPS_PER_PAGE, GROUP_HEAD) / TWIN_GROUPS_PER_PAGE,
    )
  if (kind < TWIN_SHARE + FARM_SHARE)
    return farmText(
      seed,
      randomHeavyTailed(random, index * FARMS_PER_PAGE, FARM_HEAD),
      corpusNameAt(seed, index),
      random,
    )
  return ordinaryText(seed, index)
}

/** Returns the text of the page at an index as if it were neither a twin nor part of a farm. */
function ordinaryText(seed: number, index: number): string {
  const random = seededRandom(seed, index, SALT.ordinary)
  const subjects = index * SUBJECTS_PER_PAGE
  return pageText(
    random,
    randomTopic(seed, random, () => randomHeavyTailed(random, subjects, SUBJECT_HEAD)),
  )
}

/** Returns the text of a farm with the name and numbers of one of its pages. A word in 40 differs between its pages. */
function farmText(seed: number, farm: number, name: string, pageRandom: RandomSource): string {
  const random = seededRandom(seed, farm, SALT.farm)
  const text = pageText(
    random,
    randomTopic(seed, random, () => farm),
  ).slice(0, FARM_UNITS)
  const numbers = Array.from({ length: 1 + text.length / 300 }, () => randomInt(pageRandom, 10_000))
  return `${name} ${text} ${name} ${numbers.join(' ')}`
}

/** Returns a whole number below `end`. The first `head` are about equally likely, and later ones as 1/n^0.8. */
function randomHeavyTailed(random: RandomSource, end: number, head: number): number {
  const from = head ** 0.2
  const root = from + random() * ((Math.max(1, end) + head) ** 0.2 - from)
  return Math.floor(root ** 5 - head)
}
