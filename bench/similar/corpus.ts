/**
 * Start pages of a made-up web, from a seed: languages, topics, boilerplate, farms and twins in the shares of the real
 * one.
 */

import { below, type Dice, diceOf } from '../world/random.ts'
import { nameOf } from '../world/world.ts'
import { textOf } from './text.ts'
import { topicOf } from './topics.ts'

export type CorpusPage = { name: string; text: string }

/** Of all pages, in this order: copies of another page's text, and pages of farms. */
const TWINS = 0.03
const FARMED = 0.04
/** Per page of the corpus so far: how many subjects, farms and groups of twins there are. */
const SUBJECTS = 1 / 10
const FARMS = 1 / 600
const GROUPS = 1 / 80
/** How many of the first of them are about as large as the first: the smaller, the larger is the largest. */
const SUBJECT_HEAD = 30
const FARM_HEAD = 1
const GROUP_HEAD = 4

const FARM_UNITS = 3000
const SALT = { page: 51, farm: 52, plain: 67 }

/**
 * Pages of a seed, `count` of them; fewer are the beginning of more.
 *
 * Half are in the first of twelve languages, one in 100 in the last, one in 20 in Han characters without spaces.
 * Lengths are log-normal about 200 words: a twentieth below 20, a fiftieth above 2,000. Of its words a page takes a
 * fifth up again; of the rest 1 to 7 % are of its own (names, numbers), 8 to 38 % of its subject, up to 15 % of a
 * second one where it has one (a page in four), 8 to 30 % of its category (one of 60), the others common in its
 * language. One page in five has no subject. Subjects grow by one in ten pages and have 1 to 1,100 pages each at
 * 500,000. About half of the pages carry one of 300 templates of 20 to 150 words, by a Zipf law. Of 100 pages 4 belong
 * to farms (up to 1,500 pages), whose text is the same but for the name and some numbers, and 3 repeat another page
 * (groups of 2 to 300).
 *
 * Measured of 50,000 of seed 1: words a page 35, 208, 836 at the 10th, 50th, 90th percentile, different ones 26, 135,
 * 421, 194 on average; 55,000, 186,000, 434,000, 787,000 words in the first 1,000, 5,000, 20,000, 50,000 pages, of
 * which 60 % are in one page only and the 10th, 100th, 1,000th and 10,000th most frequent in 16,500, 4,200, 914 and
 * 139. The exact cosine of 200 pages with their neighbours of rank 1, 10, 100 is 0.14, 0.09, 0.05 at the 10th
 * percentile, 0.30, 0.18, 0.09 at the median, 0.73, 0.50, 0.20 at the 90th. 800 of them are as near one another as the
 * labelled texts of people (rank 1: 0.22 and 0.16).
 */
export function* pages(seed: number, count: number): Generator<CorpusPage> {
  for (let index = 0; index < count; index++) yield { name: name(seed, index), text: textAt(seed, index) }
}

/** Parked pages of one text, whose names are those of no page of `pages`. */
export function* parked(seed: number, count: number): Generator<CorpusPage> {
  const text =
    'This domain is parked free of charge. The domain owner has not yet uploaded a website. Related searches: hosting, insurance, loans'
  for (let index = 0; index < count; index++) yield { name: name(seed, -1 - index), text }
}

function name(seed: number, index: number): string {
  return nameOf({ seed, names: 1, text: false }, index)
}

function textAt(seed: number, index: number): string {
  const dice = diceOf(seed, index, SALT.page)
  const fate = dice()
  if (fate < TWINS && index > 0) return plain(seed, heavy(dice, index * GROUPS, GROUP_HEAD) / GROUPS)
  if (fate < TWINS + FARMED) return farmed(seed, heavy(dice, index * FARMS, FARM_HEAD), name(seed, index), dice)
  return plain(seed, index)
}

/** The page at an index, were it neither a twin nor of a farm. */
function plain(seed: number, index: number): string {
  const dice = diceOf(seed, index, SALT.plain)
  const subjects = index * SUBJECTS
  return textOf(
    dice,
    topicOf(seed, dice, () => heavy(dice, subjects, SUBJECT_HEAD)),
  )
}

/** The text of a farm with a page's name and numbers in it: a word in 40 is another one on each of its pages. */
function farmed(seed: number, farm: number, name: string, own: Dice): string {
  const dice = diceOf(seed, farm, SALT.farm)
  const text = textOf(
    dice,
    topicOf(seed, dice, () => farm),
  ).slice(0, FARM_UNITS)
  const numbers = Array.from({ length: 1 + text.length / 300 }, () => below(own, 10_000))
  return `${name} ${text} ${name} ${numbers.join(' ')}`
}

/**
 * A whole number below `end`, the first `head` of which are about as likely and later ones as 1/n^0.8: how pages crowd.
 */
function heavy(dice: Dice, end: number, head: number): number {
  const from = head ** 0.2
  const root = from + dice() * ((Math.max(1, end) + head) ** 0.2 - from)
  return Math.floor(root ** 5 - head)
}
