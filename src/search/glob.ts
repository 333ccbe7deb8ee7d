/** Patterns with wildcards: `*` for any characters, `?` for one, `[a-z]` for one of a set, `[!a-z]` for one outside of it. */

import { type FixedText, FixedTextCollector } from './fixed-text.ts'

/** Whether a character matches; null for any sequence of characters. */
type GlobPart = ((code: number) => boolean) | null

export type Glob = {
  /** The longest sequences of characters that are fixed. */
  fixed: FixedText[]
  /** Whether the pattern says nothing else than one fixed text, with any characters before or after it. */
  isFixedTextOnly: boolean
  matches: (name: string) => boolean
}

/** Parses a pattern in lower case. A text is what is wrong with it. */
export function parseGlob(pattern: string): Glob | string {
  const parts: GlobPart[] = []
  const fixed = new FixedTextCollector(true)
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!
    if (char === '*' || char === '?' || char === '[') {
      fixed.end()
      if (char === '*') {
        if (parts.at(-1) !== null) parts.push(null)
      } else if (char === '?') parts.push(() => true)
      else {
        const end = endOfSet(pattern, at)
        if (end < 0) return 'a set of characters has no end'
        const set = parseSet(pattern.slice(at + 1, end))
        if (set === null) return 'a set of characters is not one such as [a-z0-9] or [!0-9]'
        parts.push(set)
        at = end
      }
      continue
    }
    const code = char.charCodeAt(0)
    parts.push((each) => each === code)
    fixed.add(char)
  }
  fixed.end(true)
  const single = parts.filter((part) => part !== null).length
  const { texts } = fixed
  const isFixedTextOnly = texts.length === 1 && single === texts[0]!.text.length
  return { fixed: texts, isFixedTextOnly, matches: (name) => matchesParts(parts, name) }
}

/** A bracket right after the beginning of a set, or after its `!`, belongs to the set. */
function endOfSet(pattern: string, at: number): number {
  const first = at + 1 + (pattern[at + 1] === '!' || pattern[at + 1] === '^' ? 1 : 0)
  return pattern.indexOf(']', first + 1)
}

function parseSet(text: string): ((code: number) => boolean) | null {
  const isOutside = text.startsWith('!') || text.startsWith('^')
  const members = isOutside ? text.slice(1) : text
  const ranges: [first: number, last: number][] = []
  for (let at = 0; at < members.length; at++) {
    const first = members.charCodeAt(at)
    const isRange = members[at + 1] === '-' && at + 2 < members.length
    const last = isRange ? members.charCodeAt(at + 2) : first
    if (last < first) return null
    ranges.push([first, last])
    if (isRange) at += 2
  }
  return (code) => ranges.some(([first, last]) => first <= code && code <= last) !== isOutside
}

/**
 * Each `*` takes as few characters as it can. If the rest does not match, the last one takes one more, so that the time
 * is at most the product of both lengths.
 */
function matchesParts(parts: readonly GlobPart[], name: string): boolean {
  let [part, at, star, taken] = [0, 0, -1, 0]
  while (at < name.length) {
    const matcher = parts[part]
    if (matcher === null) {
      star = part++
      taken = at
    } else if (matcher?.(name.charCodeAt(at))) {
      part++
      at++
    } else if (star >= 0) {
      part = star + 1
      at = ++taken
    } else return false
  }
  while (parts[part] === null) part++
  return part === parts.length
}
