/** Splits valid JSON text without white space into its members and elements, without a change to their bytes. */

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const OPENING = [91, 123] // [ {
const CLOSING = [93, 125] // ] }

/** The texts of the elements of an array. */
export function* arrayElements(array: string): Generator<string> {
  for (let at = 1; at < array.length - 1; ) {
    const end = valueEnd(array, at)
    yield array.slice(at, end)
    at = end + 1
  }
}

/** The texts of the members of an object by key. Keys have no escapes. */
export function objectMembers(object: string): Map<string, string> {
  const members = new Map<string, string>()
  for (let at = 1; at < object.length - 1; ) {
    const colon = stringEnd(object, at)
    const end = valueEnd(object, colon + 1)
    members.set(object.slice(at + 1, colon - 1), object.slice(colon + 1, end))
    at = end + 1
  }
  return members
}

/** The index after the value that starts at `at`. */
function valueEnd(text: string, at: number): number {
  let depth = 0
  for (let index = at; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) index = stringEnd(text, index) - 1
    else if (OPENING.includes(code)) depth++
    else if (CLOSING.includes(code)) {
      if (depth === 0) return index
      depth--
    } else if (code === COMMA && depth === 0) return index
  }
  return text.length
}

/** The index after the string whose opening quote is at `at`. */
function stringEnd(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return end + 1
  }
  return text.length
}
