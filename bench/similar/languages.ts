/**
 * The twelve made-up languages of the corpus: a word for every number, from syllables of the language's own letters.
 */

import { mix } from '../world/random.ts'

/**
 * `share`: of the pages. `onsets`, `vowels`, `codas`: what its syllables are made of; none for the one written without
 * spaces.
 */
type Language = { share: number; onsets: string[]; vowels: string[]; codas: string[] }

const CACHED = 8192
/** Sounds of a language, of which each syllable is one. */
const SOUNDS = 64
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
const sounds = LANGUAGES.map(soundsOf)
const cached = LANGUAGES.map((_, place) => Array.from({ length: CACHED }, (_, number) => spell(place, number)))

/** The language at a place between 0 and 1: half of the places for the first, one in a hundred for the last. */
export function languageAt(place: number): number {
  let rest = place
  for (let at = 0; at < LANGUAGES.length; at++) {
    rest -= LANGUAGES[at]!.share
    if (rest < 0) return at
  }
  return 0
}

/** What stands between two words. */
export function gapOf(language: number): string {
  return HAS_SPACES[language] ? ' ' : ''
}

/** The word of a number below 2^29, another one for every number; frequent ones, of small numbers, are short. */
export function wordOf(language: number, number: number): string {
  return number < CACHED ? cached[language]![number]! : spell(language, number)
}

/** The digits of the number to the base 64, shuffled by an odd factor so that words of neighbours differ. */
function spell(language: number, number: number): string {
  if (!HAS_SPACES[language]) return characters(number)
  const own = sounds[language]!
  let length = 2
  while (number >= SOUNDS ** length / 2) length++
  let rest = Math.imul(number, 0x9e3779b1) + Math.imul(language, 0x85ebca6b)
  let word = ''
  for (let at = 0; at < length; at++) {
    word += own[rest & (SOUNDS - 1)]!
    rest >>>= 6
  }
  return word
}

/**
 * Two characters, of which the first is frequent; segmentation knows hardly any such word and takes each for itself.
 */
function characters(number: number): string {
  const first = number < 400 ? number : mix(number) % 400
  return String.fromCharCode(
    HAN + first * 7,
    HAN + (number < 4000 ? number * 5 : mix(number ^ 0x5bd1) % HAN_CHARACTERS),
  )
}

/** 64 sounds, or fewer over again, each begun and ended by the letters of the language. */
function soundsOf({ onsets, vowels, codas }: Language, language: number): string[] {
  const all = new Set<string>()
  for (let at = 0; onsets.length > 0 && all.size < SOUNDS && at < 4096; at++) {
    const chance = mix(at * 31 + language)
    const coda = chance & 3 ? '' : codas[(chance >>> 16) % codas.length]!
    all.add(onsets[(chance >>> 2) % onsets.length]! + vowels[(chance >>> 9) % vowels.length]! + coda)
  }
  return [...all]
}

function language(share: number, onsets: string, vowels: string, codas: string): Language {
  return { share, onsets: onsets.split(' '), vowels: vowels.split(' '), codas: codas.split(' ') }
}
