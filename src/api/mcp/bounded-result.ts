/** Bounds and cleans the result of a tool: its texts come from strangers, and a language model reads them. */

type State = { type: string; first_seen: string }
/** The result of the tool. `states`: newest first within each type. `older`: the types with older states. */
type History = { states: State[]; older: string[]; next: string | null; notes: string[] }

/** The characters of all states together; a single state is never left out. */
const MAX_STATES_LENGTH = 40_000
const CUT_STATES_NOTE = 'Older states are left out, because the result would be too long.'

/**
 * Leaves out the oldest states of a result that is too long. With one type, `next` is then the `first_seen` of the last
 * state that is left, which the endpoint accepts. Otherwise `older` names the types that lost states.
 */
export function boundStates(result: Record<string, unknown>, isOneType: boolean): Record<string, unknown> {
  const { states, older, notes } = result as History
  let length = 0
  const kept = states.filter((state, index) => {
    length += JSON.stringify(state).length
    return index === 0 || length <= MAX_STATES_LENGTH
  })
  if (kept.length === states.length) return result
  const cut = states.filter((state) => !kept.includes(state)).map(({ type }) => type)
  return {
    ...result,
    states: kept,
    older: [...new Set([...older, ...cut])],
    ...(isOneType && { next: kept.at(-1)!.first_seen }),
    notes: [...notes, CUT_STATES_NOTE],
  }
}

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
