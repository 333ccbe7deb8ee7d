/** Bounds the states of a history by the length of their text. */

type State = { type: string; first_seen: string }
/** The result of the tool. `states`: newest first within each type. `older`: the types with older states. */
type History = { states: State[]; older: string[]; next: string | null; notes: string[] }

/** The characters of all states together; a single state is never left out. */
const MAX_STATES_LENGTH = 40_000
const CUT_NOTE = 'Older states are left out, because the result would be too long.'

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
    notes: [...notes, CUT_NOTE],
  }
}
