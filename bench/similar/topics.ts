/** The topics of the synthetic pages: a language, one of its 60 categories, and subjects. */

import { mixBits, type RandomSource, seededRandom } from '../world/random.ts'
import { languageOfShare } from './languages.ts'

/**
 * `subject`, `second`: null if there is none. `shares`: shares of the words of a page, checked in order. The rest are
 * common words of the language.
 */
export type Topic = {
  language: number
  category: number
  subject: number | null
  second: number | null
  shares: { own: number; subject: number; second: number; category: number }
}

const NO_SUBJECT_SHARE = 0.2
const SECOND_SUBJECT_SHARE = 0.25
const CATEGORIES = 60
const SALT = 61

/**
 * Returns a random topic. `drawSubject` returns the number of a subject. A subject has one language and one category.
 */
export function randomTopic(seed: number, random: RandomSource, drawSubject: () => number): Topic {
  const subject = random() < NO_SUBJECT_SHARE ? null : drawSubject()
  const second = random() < SECOND_SUBJECT_SHARE ? drawSubject() : null
  const subjectRandom = subject === null ? random : seededRandom(seed, subject, SALT)
  const language = languageOfShare(subjectRandom())
  const category = Math.floor(CATEGORIES * subjectRandom() ** 1.5)
  const shares = {
    own: 0.01 + 0.06 * random(),
    subject: subject === null ? 0 : 0.08 + 0.3 * random(),
    second: second === null ? 0 : 0.15 * random(),
    category: 0.08 + 0.22 * random(),
  }
  return { language, category, subject: subjectId(seed, subject), second: subjectId(seed, second), shares }
}

/** Returns a number of 32 bits, so that subjects of different seeds have different words. */
function subjectId(seed: number, subject: number | null): number | null {
  return subject === null ? null : mixBits(subject ^ mixBits(seed))
}
