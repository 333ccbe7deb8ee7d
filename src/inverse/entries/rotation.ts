/**
 * Rotations of known names: what follows a place in the name, a mark, and what is before the place. Sorted, the rotations
 * that begin with a text are those of the names that contain it.
 *
 * A rotation is packed, three symbols into two bytes, which keeps the order of the symbols: the padding at the end, the
 * mark, the hyphen, the dot, ten digits and 26 letters. An underscore is the padding and the mark.
 */

const PADDING = 0
const MARK = 1
const SYMBOLS = 40
const TEXT_OF_SYMBOL = '\x00\x01-.0123456789abcdefghijklmnopqrstuvwxyz'
const UNDERSCORE = 95
/** For each ASCII code its symbol. */
const SYMBOL_OF_CODE = new Uint8Array(128)
for (let symbol = 0; symbol < SYMBOLS; symbol++) SYMBOL_OF_CODE[TEXT_OF_SYMBOL.charCodeAt(symbol)] = symbol
const MAX_CHARACTERS = 253
/** An underscore is two symbols. */
const MAX_SYMBOLS = 2 * MAX_CHARACTERS
const GROUP_SYMBOLS = 3

/** The rotations of one text after another. Call `begin` with a text, then `groupsAt` or `packAt` for its places. */
export class Rotations {
  /** The symbols of the text, a mark, and the symbols again. */
  readonly #symbols = new Uint8Array(2 * MAX_SYMBOLS + 1)
  /** Where the symbols of each character begin. */
  readonly #starts = new Uint16Array(MAX_CHARACTERS)
  /** For each symbol the number of the group that begins with it. */
  readonly #groups = new Uint16Array(2 * MAX_SYMBOLS + 1)
  /** The groups of the rotation that `groupsAt` wrote. */
  readonly groups = new Uint16Array(Math.ceil((MAX_SYMBOLS + 1) / GROUP_SYMBOLS))
  readonly #bytes = Buffer.alloc(2 * this.groups.length)
  #length = 0

  begin(text: string): void {
    const symbols = this.#symbols
    let length = 0
    for (let at = 0; at < text.length; at++) {
      this.#starts[at] = length
      length = writeSymbol(text.charCodeAt(at), symbols, length)
    }
    symbols[length] = MARK
    symbols.copyWithin(length + 1, 0, length)
    for (let at = 0; at + GROUP_SYMBOLS <= 2 * length + 1; at++)
      this.#groups[at] = groupOf(symbols[at]!, symbols[at + 1]!, symbols[at + 2]!)
    this.#length = length
  }

  /** Writes the rotation at a character to `groups`. Returns how many groups it has. */
  groupsAt(character: number): number {
    const [length, symbols] = [this.#length + 1, this.#symbols]
    let at = this.#starts[character]!
    const end = at + length
    let count = 0
    for (; at + GROUP_SYMBOLS <= end; at += GROUP_SYMBOLS) this.groups[count++] = this.#groups[at]!
    if (at < end) this.groups[count++] = groupOf(symbols[at]!, at + 1 < end ? symbols[at + 1]! : PADDING, PADDING)
    return count
  }

  /** The bytes of the rotation at a character. Valid until the next call. */
  packAt(character: number): Buffer {
    const count = this.groupsAt(character)
    for (let index = 0; index < count; index++) this.#bytes.writeUInt16BE(this.groups[index]!, 2 * index)
    return this.#bytes.subarray(0, 2 * count)
  }
}

/** Writes the symbols of a character. Returns where they end. */
function writeSymbol(code: number, target: Uint8Array, at: number): number {
  if (code !== UNDERSCORE) {
    target[at] = SYMBOL_OF_CODE[code]!
    return at + 1
  }
  target[at] = PADDING
  target[at + 1] = MARK
  return at + 2
}

function groupOf(first: number, second: number, third: number): number {
  return (first * SYMBOLS + second) * SYMBOLS + third
}

/** The name of a packed rotation, and the place in it. Bytes that no rotation has give a wrong name. */
export function unpackRotation(bytes: string): { name: string; at: number } {
  let text = ''
  let end = 0
  let isEscaped = false
  for (let index = 0; index + 1 < bytes.length; index += 2) {
    let divisor = SYMBOLS * SYMBOLS
    for (let rest = bytes.charCodeAt(index) * 256 + bytes.charCodeAt(index + 1); divisor >= 1; divisor /= SYMBOLS) {
      const symbol = Math.floor(rest / divisor)
      rest -= symbol * divisor
      if (isEscaped && symbol === MARK) text += '_'
      else if (symbol === MARK) end = text.length
      else if (symbol !== PADDING) text += TEXT_OF_SYMBOL[symbol]
      isEscaped = symbol === PADDING
    }
  }
  return { name: text.slice(end) + text.slice(0, end), at: text.length - end }
}

/** The range of the packed rotations that begin with a text: `to` is excluded. `isEnd`: names end with the text. */
export function rotationRange(text: string, isEnd: boolean): { from: string; to: string } {
  const symbols = new Uint8Array(2 * text.length + 1 + GROUP_SYMBOLS)
  let length = 0
  for (let at = 0; at < text.length; at++) length = writeSymbol(text.charCodeAt(at), symbols, length)
  if (isEnd) symbols[length++] = MARK
  const lacking = (GROUP_SYMBOLS - (length % GROUP_SYMBOLS)) % GROUP_SYMBOLS
  let from = ''
  for (let at = 0; at + GROUP_SYMBOLS < length; at += GROUP_SYMBOLS)
    from += groupText(groupOf(symbols[at]!, symbols[at + 1]!, symbols[at + 2]!))
  const last = length + lacking - GROUP_SYMBOLS
  const group = groupOf(symbols[last]!, symbols[last + 1]!, symbols[last + 2]!)
  return { from: from + groupText(group), to: from + groupText(group + SYMBOLS ** lacking) }
}

/** The two bytes of a group, as a text of one character per byte. */
function groupText(group: number): string {
  return String.fromCharCode(group >> 8, group & 255)
}
