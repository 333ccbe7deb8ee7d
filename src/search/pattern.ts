/** Reads what a search asks for: a text, a pattern with wildcards, or a regular expression. */

import { MIN_FIXED_CHARACTERS, queryOf, queryOfFixedTexts } from './fixed-text.ts'
import { parseGlob } from './glob.ts'
import type { NameFilter, NameQuery } from './name-query.ts'
import { parseRegex } from './regex.ts'

/** Which names the index is asked for, and which of these match; null if all do. */
export type NameSearch = { query: NameQuery; filter: NameFilter | null }

const MAX_PATTERN_CHARACTERS = 300
const UNSELECTIVE = `has no ${MIN_FIXED_CHARACTERS} fixed characters in a row`
const NARROWER = 'Search for more characters, such as *bank*, bank* or *.bank.'

/**
 * Reads a search. Between slashes, it is a regular expression, which any part of a name may match. With `*`, `?` or `[`,
 * it is a pattern for whole names. Anything else is a text that a name contains. A text of the result is what is wrong,
 * as a sentence.
 */
export function parseSearch(given: string): NameSearch | string {
  const text = given.trim()
  if (text.length > 1 && text.startsWith('/') && text.endsWith('/')) return searchOfRegex(text.slice(1, -1))
  return searchOfGlob(/[*?[]/.test(text) ? text : `*${text}*`)
}

/** Reads a pattern with wildcards for whole names. */
function searchOfGlob(given: string): NameSearch | string {
  const problem = problemOfText(given) ?? problemOfCharacters(given)
  if (problem !== null) return problem
  const glob = parseGlob(given.toLowerCase())
  if (typeof glob === 'string') return `The pattern is wrong: ${glob}.`
  const [only] = glob.fixed
  if (only !== undefined && glob.isFixedTextOnly) {
    const query = queryOf(only)
    if (query.by !== 'inside' || query.text.length >= MIN_FIXED_CHARACTERS)
      return { query, filter: only.isStart && only.isEnd ? glob.matches : null }
  }
  const query = queryOfFixedTexts(glob.fixed)
  return query === null ? `The pattern ${UNSELECTIVE}. ${NARROWER}` : { query, filter: glob.matches }
}

/** Reads a regular expression that any part of a name may match. */
function searchOfRegex(expression: string): NameSearch | string {
  const problem = problemOfText(expression)
  if (problem !== null) return problem
  const regex = parseRegex(expression)
  if (typeof regex === 'string') return `The regular expression is wrong: ${regex}.`
  const query = queryOfFixedTexts(regex.fixed)
  if (query === null)
    return `The regular expression ${UNSELECTIVE} outside of groups and alternatives. Add some, such as /bank[0-9]+/.`
  return { query, filter: regex.matches }
}

function problemOfCharacters(text: string): string | null {
  const wrong = /[^a-z0-9._*?[\]!^-]/i.exec(text)?.[0]
  return wrong === undefined
    ? null
    : `No name has a ${JSON.stringify(wrong)}: search for letters, digits, dots, - and _.`
}

function problemOfText(text: string): string | null {
  if (text.length > MAX_PATTERN_CHARACTERS) return `The search has more than ${MAX_PATTERN_CHARACTERS} characters.`
  if (/[^\x21-\x7e]/.test(text))
    return 'Names are searched in ASCII: send the A-label, such as xn--bcher-kva, without spaces.'
  return null
}
