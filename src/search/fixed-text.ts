/** The fixed texts of a pattern, and which of them the index is asked for. */

import type { NameQuery } from './name-query.ts'

/** A text that each name has that matches a pattern. `isStart`, `isEnd`: where the name begins or ends with it. */
export type FixedText = { text: string; isStart: boolean; isEnd: boolean }

/** Collects the fixed texts of a pattern, which is read from its start. */
export class FixedTextCollector {
  readonly texts: FixedText[] = []
  #text = ''
  #isStart: boolean

  /** `isStart`: whether names begin with what is read first. */
  constructor(isStart: boolean) {
    this.#isStart = isStart
  }

  /** Adds a character to the current text. */
  add(character: string): void {
    this.#text += character
  }

  /** Takes the last character back. */
  removeLast(): void {
    this.#text = this.#text.slice(0, -1)
  }

  /** Ends the current text, because something follows that is not fixed, or at the end of the names (`isEnd`). */
  end(isEnd = false): void {
    if (this.#text !== '') this.texts.push({ text: this.#text, isStart: this.#isStart, isEnd })
    this.#text = ''
    this.#isStart = false
  }
}

/** Characters that a fixed text must have if the names with it are filtered, and if it may be anywhere in a name. */
export const MIN_FIXED_CHARACTERS = 3

/** The query that finds the fewest names by one of the texts; null if each text is too short. */
export function queryOfFixedTexts(texts: readonly FixedText[]): NameQuery | null {
  const rated = texts.map((each) => ({ each, weight: weightOf(each) })).sort((a, b) => b.weight - a.weight)
  const best = rated[0]
  return best === undefined || best.weight < MIN_FIXED_CHARACTERS ? null : queryOf(best.each)
}

/** The query for the names with a text. */
export function queryOf({ text, isStart, isEnd }: FixedText): NameQuery {
  if (isEnd && text.startsWith('.')) return { by: 'below', text: text.slice(1) }
  if (isStart) return { by: 'start', text }
  return { by: isEnd ? 'end' : 'inside', text }
}

/** The characters of a text that tell names apart. The last label is that of many names, and the start is that of few. */
function weightOf({ text, isStart, isEnd }: FixedText): number {
  const characters = isEnd ? text.replace(/\.?[^.]*$/, '').replace(/^\./, '') : text
  return characters.length + (isStart && characters.length >= MIN_FIXED_CHARACTERS ? 0.5 : 0)
}
