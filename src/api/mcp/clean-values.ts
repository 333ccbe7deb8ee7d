/** Bounds the values of a result for a language model, and removes characters that nobody sees. */

/** The maximum number of characters of one text. */
const MAX_TEXT_LENGTH = 1_000
/** The maximum number of elements of a list inside a row, such as the records of a state. */
const MAX_INNER_ELEMENTS = 50
/** Control characters, and characters without a width or that change the direction of text. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

const CUT_NOTE = 'Long texts and long lists of records are cut off.'

/**
 * Clean copies of the properties of a result, at any depth: texts without invisible characters and of a bounded length,
 * lists inside rows of a bounded length. The lists of rows themselves are bounded already. `notes` says what was cut.
 */
export function cleanProperties(properties: Record<string, unknown>): {
  properties: Record<string, unknown>
  notes: string[]
} {
  let isCut = false
  const clean = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') {
      if (value.length > MAX_TEXT_LENGTH) isCut = true
      const text = value.slice(0, MAX_TEXT_LENGTH).replace(INVISIBLE, '\uFFFD')
      return value.length > MAX_TEXT_LENGTH ? `${text}…` : text
    }
    if (Array.isArray(value)) {
      const max = depth === 1 ? Number.POSITIVE_INFINITY : MAX_INNER_ELEMENTS
      if (value.length > max) isCut = true
      return value.slice(0, max).map((each) => clean(each, depth + 1))
    }
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, clean(inner, depth + 1)]))
  }
  return { properties: clean(properties, 0) as Record<string, unknown>, notes: isCut ? [CUT_NOTE] : [] }
}
