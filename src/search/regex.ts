/** Regular expressions of RE2, which match in linear time, and the fixed texts in them. */

import { RE2JS } from 're2js'
import { type FixedText, FixedTextCollector } from './fixed-text.ts'

export type Regex = { fixed: FixedText[]; matches: (name: string) => boolean }

/** Instructions of a compiled expression at most, for which matching a name takes some microseconds. */
const MAX_PROGRAM_SIZE = 2_000
/** Escapes of sets of characters and of places. Others are refused, so that fixed texts are found surely. */
const ESCAPED_SETS = 'dDwWsSbB'
const PUNCTUATION = /[!-/:-@[-`{-~]/

/** Compiles an expression. Letter case is ignored. A text is what is wrong with it. */
export function parseRegex(expression: string): Regex | string {
  const fixed = fixedTextsOf(expression)
  if (typeof fixed === 'string') return fixed
  try {
    const compiled = RE2JS.compile(expression, RE2JS.CASE_INSENSITIVE)
    if (compiled.programSize() > MAX_PROGRAM_SIZE) return 'the expression is too large: repeat fewer times'
    return { fixed, matches: (name) => compiled.test(name) }
  } catch (error) {
    return `the expression is not one of RE2: ${(error as Error).message.replace(/^error parsing regexp: /, '')}`
  }
}

/** The texts outside of groups and sets that each match has. None if there are alternatives outside of groups. */
function fixedTextsOf(expression: string): FixedText[] | string {
  const isStart = expression.startsWith('^')
  const fixed = new FixedTextCollector(isStart)
  let at = isStart ? 1 : 0
  while (at < expression.length) {
    const char = expression[at]!
    if (char === '|') return []
    if (char === '(' || char === '[') {
      fixed.end()
      const end = char === '(' ? endOfGroup(expression, at) : endOfSet(expression, at)
      if (typeof end === 'string') return end
      at = end
    } else if (char === '$' && at === expression.length - 1) {
      fixed.end(true)
      at++
    } else if (char === '\\') {
      const escaped = expression[at + 1] ?? ''
      if (PUNCTUATION.test(escaped)) fixed.add(escaped)
      else if (ESCAPED_SETS.includes(escaped) && escaped !== '') fixed.end()
      else return `the escape \\${escaped} is not supported`
      at += 2
    } else if (char === '.' || char === '^' || char === '$') {
      fixed.end()
      at++
    } else {
      fixed.add(char.toLowerCase())
      at++
    }
    const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})[?+]?/.exec(expression.slice(at))?.[0]
    if (quantifier === undefined) continue
    // what may be missing is not fixed, and what is repeated ends a text
    if (/^(?:[*?]|\{0)/.test(quantifier)) fixed.removeLast()
    fixed.end()
    at += quantifier.length
  }
  fixed.end()
  return fixed.texts
}

/** The place after a group. */
function endOfGroup(expression: string, start: number): number | string {
  let depth = 0
  for (let at = start; at < expression.length; at++) {
    const char = expression[at]!
    if (char === '\\') {
      const escaped = expression[at + 1] ?? ''
      if (!PUNCTUATION.test(escaped) && !ESCAPED_SETS.includes(escaped))
        return `the escape \\${escaped} is not supported`
      at++
    } else if (char === '[') {
      const end = endOfSet(expression, at)
      if (typeof end === 'string') return end
      at = end - 1
    } else if (char === '(') depth++
    else if (char === ')' && --depth === 0) return at + 1
  }
  return 'a group has no end'
}

/** The place after a set of characters. */
function endOfSet(expression: string, start: number): number | string {
  let at = start + 1
  if (expression[at] === '^') at++
  if (expression[at] === ']') at++
  for (; at < expression.length; at++) {
    if (expression[at] === '\\') at++
    else if (expression.startsWith('[:', at)) {
      const end = expression.indexOf(':]', at)
      if (end < 0) return 'a class of characters has no end'
      at = end + 1
    } else if (expression[at] === ']') return at + 1
  }
  return 'a set of characters has no end'
}
