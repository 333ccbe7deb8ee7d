/** Reads what a search asks for: a text, a pattern with wildcards, or a regular expression. */

import { type FixedText, MIN_FIXED_CHARACTERS, queryOf, queryOfFixedTexts } from './fixed-text.ts'
import { type Glob, parseGlob } from './glob.ts'
import type { NameFilter, NameQuery } from './name-query.ts'
import { parseRegex, type Regex } from './regex.ts'

/** Which names the index is asked for, and which of these match; null if all do. */
export type NameSearch = { query: NameQuery; filter: NameFilter | null }

const MAX_PATTERN_CHARACTERS = 300
const UNSELECTIVE = `has no ${MIN_FIXED_CHARACTERS} fixed characters in a row before its last label`
const NARROWER = 'Search for more characters, such as bank* or *bank*'

/**
 * Reads a search. Between slashes, it is a regular expression, which any part of a name may match. With `*`, `?` or `[`,
 * it is a pattern for whole names, whose last character may be the dot of the root. Anything else is a text that a name
 * contains. A text of the result is what is wrong, as a sentence.
 */
export function parseSearch(given: string): NameSearch | string {
  const text = given.trim()
  if (text.length > 1 && text.startsWith('/') && text.endsWith('/')) return searchOfRegex(text.slice(1, -1))
  return searchOfGlob(/[*?[]/.test(text) ? text.replace(/\.$/, '') : `*${text}*`)
}

/** What the flexible search of DNSDB may be: a pattern for whole names, or an expression for a part of them. */
export const FLEXIBLE_KINDS = ['glob', 'regex'] as const
export type FlexibleKind = (typeof FLEXIBLE_KINDS)[number]

/**
 * Reads a search for names with a dot after their last label, as the flexible search of DNSDB writes them. A text of the
 * result is what is wrong, as a sentence.
 */
export function parseFlexibleSearch(kind: FlexibleKind, given: string): NameSearch | string {
  const found = parseFlexible(kind, given)
  if (typeof found === 'string') return found
  if (found.fixed.some(({ text, isEnd }) => isEnd && !text.endsWith('.')))
    return 'Here, all names end with a dot: send one such as *.example.com. or *bank*'
  const fixed = found.fixed.map((each) => ({ ...each, text: each.text.replace(/\.$/, '') }))
  const some = fixed.filter(({ text }) => text !== '')
  const query = kind === 'glob' ? queryOfGlob({ ...found, fixed: some }) : queryOfRegex({ ...found, fixed: some })
  return typeof query === 'string' ? query : { query, filter: (name) => found.matches(`${name}.`) }
}

/** Reads which names with a dot after their last label match; a text is what is wrong, as a sentence. */
export function parseFlexibleFilter(kind: FlexibleKind, given: string): NameFilter | string {
  const found = parseFlexible(kind, given)
  return typeof found === 'string' ? found : (name) => found.matches(`${name}.`)
}

function parseFlexible(kind: FlexibleKind, given: string): Glob | string {
  if (kind === 'glob') return readGlob(given)
  const regex = readRegex(given)
  return typeof regex === 'string' ? regex : { ...regex, isFixedTextOnly: false }
}

/** Tells of one name whether a search finds it. */
export function matcherOf({ query: { by, text }, filter }: NameSearch): NameFilter {
  const isFound: NameFilter =
    by === 'inside'
      ? (name) => name.includes(text)
      : by === 'start'
        ? (name) => name.startsWith(text)
        : (name) => name.endsWith(by === 'below' ? `.${text}` : text)
  return filter === null ? isFound : (name) => isFound(name) && filter(name)
}

/** Reads a pattern with wildcards for whole names. */
function searchOfGlob(given: string): NameSearch | string {
  const glob = readGlob(given)
  if (typeof glob === 'string') return glob
  const query = queryOfGlob(glob)
  if (typeof query === 'string') return query
  const [{ isStart, isEnd }] = glob.fixed as [FixedText]
  return { query, filter: glob.isFixedTextOnly && !(isStart && isEnd) ? null : glob.matches }
}

function readGlob(given: string): Glob | string {
  const problem = problemOfText(given) ?? problemOfCharacters(given)
  if (problem !== null) return problem
  const glob = parseGlob(given.toLowerCase())
  return typeof glob === 'string' ? `The pattern is wrong: ${glob}.` : glob
}

function queryOfGlob({ fixed, isFixedTextOnly }: Glob): NameQuery | string {
  const [only] = fixed
  if (only !== undefined && isFixedTextOnly) {
    const query = queryOf(only)
    if (query.by !== 'inside' || query.text.length >= MIN_FIXED_CHARACTERS) return query
  }
  return queryOfFixedTexts(fixed) ?? `The pattern ${UNSELECTIVE}. ${NARROWER}`
}

/** Reads a regular expression that any part of a name may match. */
function searchOfRegex(expression: string): NameSearch | string {
  const regex = readRegex(expression)
  if (typeof regex === 'string') return regex
  const query = queryOfRegex(regex)
  return typeof query === 'string' ? query : { query, filter: regex.matches }
}

function readRegex(expression: string): Regex | string {
  const problem = problemOfText(expression)
  if (problem !== null) return problem
  const regex = parseRegex(expression)
  return typeof regex === 'string' ? `The regular expression is wrong: ${regex}.` : regex
}

function queryOfRegex({ fixed }: Pick<Regex, 'fixed'>): NameQuery | string {
  return (
    queryOfFixedTexts(fixed) ??
    `The regular expression ${UNSELECTIVE} outside of groups and alternatives. Add some, such as the four of bank[0-9]+`
  )
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
