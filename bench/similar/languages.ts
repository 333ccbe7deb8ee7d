/** The twelve synthetic languages of the corpus: a word for every number, from syllables of the language. */

import { mixBits } from '../world/random.ts'

/**
 * `share`: the share of the pages. `onsets`, `vowels`, `codas`: the parts of its syllables, empty for the language
 * without spaces.
 */
type Language = { share: number; onsets: string[]; vowels: string[]; codas: string[] }

const CACHED_WORDS = 8192
/** The number of syllables of a language. */
const SYLLABLES = 64
const LATIN = 'b d f g h k l m n p r s t v w z br st tr sch ch qu j kl'
const HAN = 0x4e00
const HAN_CHARACTERS = 20_902

const LANGUAGES: readonly Language[] = [
  language(0.5, LATIN, 'a e i o u ea ou y', 'n r s t l'),
  language(0.09, `${LATIN} pf schw`, 'a e i u ä ö ü ei', 'n r st cht'),
  language(0.08, LATIN, 'a e i o é è ou eau', 's x n'),
  language(0.07, LATIN, 'a e i o u á í ó', 's n r'),
  language(0.06, 'б в г д ж з к л м н п р с т ч ш', 'а е и о у ы я ю', 'л м н ть'),
  language(0.05, '', '', ''),
  language(0.04, LATIN, 'a e i o u ã ção ei', 's m'),
  language(0.04, 'β γ δ θ κ λ μ ν ξ π ρ σ τ φ χ ψ', 'α ε η ι ο υ ω ού', 'ς ν'),
  language(0.03, 'b c cz d g k l ł m n p r s sz w ż', 'a ą e ę i o u y', 'k ć j'),
  language(0.02, 'ب ت ج ح د ر ز س ش ص ط ع ف ق ك ل م ن', 'ا و ي', 'ه ة ن'),
  language(0.01, '가 나 다 라 마 바 사 아 자 차 카 하', '리 스 이 도 지 고', ''),
  language(0.01, 'b d g h j k l m n p r s t v', 'a aa e i ii o uu ää yö ö', 'n t'),
]
const HAS_SPACES = LANGUAGES.map(({ onsets }) => onsets.length > 1)
const syllablesOfLanguage = LANGUAGES.map(makeSyllables)
const wordCache = LANGUAGES.map((_, language) =>
  Array.from({ length: CACHED_WORDS }, (_, number) => spellWord(language, number)),
)

/**
 * Returns the language at `share` between 0 and 1: the first language has half of that range, the last one hundredth.
 */
export function languageOfShare(share: number): number {
  let rest = share
  for (let at = 0; at < LANGUAGES.length; at++) {
    rest -= LANGUAGES[at]!.share
    if (rest < 0) return at
  }
  return 0
}

/** Returns the separator between two words. */
export function wordSeparator(language: number): string {
  return HAS_SPACES[language] ? ' ' : ''
}

/**
 * Returns the word of a number below 2^29. Different numbers give different words, and small numbers (frequent words)
 * give short ones.
 */
export function wordOf(language: number, number: number): string {
  return number < CACHED_WORDS ? wordCache[language]![number]! : spellWord(language, number)
}

/** Writes the number in base 64, multiplied by an odd factor so that words of adjacent numbers differ. */
function spellWord(language: number, number: number): string {
  if (!HAS_SPACES[language]) return hanWord(number)
  const own = syllablesOfLanguage[language]!
  let length = 2
  while (number >= SYLLABLES ** length / 2) length++
  let rest = Math.imul(number, 0x9e3779b1) + Math.imul(language, 0x85ebca6b)
  let word = ''
  for (let at = 0; at < length; at++) {
    word += own[rest & (SYLLABLES - 1)]!
    rest >>>= 6
  }
  return word
}

/** Returns two characters, the first of them a frequent one. The segmenter knows few such words and splits them. */
function hanWord(number: number): string {
  const first = number < 400 ? number : mixBits(number) % 400
  return String.fromCharCode(
    HAN + first * 7,
    HAN + (number < 4000 ? number * 5 : mixBits(number ^ 0x5bd1) % HAN_CHARACTERS),
  )
}

/** Returns up to 64 distinct syllables of the language. */
function makeSyllables({ onsets, vowels, codas }: Language, language: number): string[] {
  const all = new Set<string>()
  for (let at = 0; onsets.length > 0 && all.size < SYLLABLES && at < 4096; at++) {
    const chance = mixBits(at * 31 + language)
    const coda = chance & 3 ? '' : codas[(chance >>> 16) % codas.length]!
    all.add(onsets[(chance >>> 2) % onsets.length]! + vowels[(chance >>> 9) % vowels.length]! + coda)
  }
  return [...all]
}

function language(share: number, onsets: string, vowels: string, codas: string): Language {
  return { share, onsets: onsets.split(' '), vowels: vowels.split(' '), codas: codas.split(' ') }
}
