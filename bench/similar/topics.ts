/** What the pages of the corpus write of: a language, one of 60 categories in it, and subjects. */

import { type Dice, diceOf, mix } from '../world/random.ts'
import { languageAt } from './languages.ts'

/**
 * `subject`, `second`: null for none. `shares`: of the words of a page, one after another; the rest is common in the
 * language.
 */
export type Topic = {
  language: number
  category: number
  subject: number | null
  second: number | null
  shares: { own: number; subject: number; second: number; category: number }
}

const WITHOUT_SUBJECT = 0.2
const WITH_SECOND_SUBJECT = 0.25
const CATEGORIES = 60
const SALT = 61

/**
 * The topic of a page of these dice; `draw` answers the number of a subject. A subject has one language and one
 * category.
 */
export function topicOf(seed: number, dice: Dice, draw: () => number): Topic {
  const subject = dice() < WITHOUT_SUBJECT ? null : draw()
  const second = dice() < WITH_SECOND_SUBJECT ? draw() : null
  const chance = subject === null ? dice : diceOf(seed, subject, SALT)
  const language = languageAt(chance())
  const category = Math.floor(CATEGORIES * chance() ** 1.5)
  const shares = {
    own: 0.01 + 0.06 * dice(),
    subject: subject === null ? 0 : 0.08 + 0.3 * dice(),
    second: second === null ? 0 : 0.15 * dice(),
    category: 0.08 + 0.22 * dice(),
  }
  return { language, category, subject: identity(seed, subject), second: identity(seed, second), shares }
}

/** A number of 32 bits, so that subjects of different seeds differ in their words. */
function identity(seed: number, subject: number | null): number | null {
  return subject === null ? null : mix(subject ^ mix(seed))
}
