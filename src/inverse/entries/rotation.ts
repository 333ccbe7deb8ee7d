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
/** The bytes of the longest rotation: a name of 253 underscores, and the mark. */
const MAX_ROTATION_BYTES = 2 * Math.ceil((2 * 253 + 1) / 3)

/** Writes symbols as bytes. */
class SymbolWriter {
  readonly bytes = Buffer.alloc(MAX_ROTATION_BYTES)
  length = 0
  #group = 0
  #symbols = 0

  begin(): void {
    this.length = 0
    this.#group = 0
    this.#symbols = 0
  }

  symbol(symbol: number): void {
    this.#group = this.#group * SYMBOLS + symbol
    if (++this.#symbols < 3) return
    this.bytes[this.length++] = this.#group >> 8
    this.bytes[this.length++] = this.#group & 255
    this.#group = 0
    this.#symbols = 0
  }

  text(text: string, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const code = text.charCodeAt(at)
      if (code === UNDERSCORE) {
        this.symbol(PADDING)
        this.symbol(MARK)
      } else this.symbol(SYMBOL_OF_CODE[code]!)
    }
  }

  /** Completes the last group. Returns how many symbols it lacked. */
  end(): number {
    const lacking = (3 - this.#symbols) % 3
    for (let count = 0; count < lacking; count++) this.symbol(PADDING)
    return lacking
  }
}

const writer = new SymbolWriter()

/** The rotation of a name at a place, of which the first `length` bytes count. Valid until the next call. */
export function packRotation(name: string, at: number): { readonly bytes: Buffer; readonly length: number } {
  writer.begin()
  writer.text(name, at, name.length)
  writer.symbol(MARK)
  writer.text(name, 0, at)
  writer.end()
  return writer
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

/** The range of the packed rotations that begin with a text, `from` included, `to` excluded. `isEnd`: names end with it. */
export function rotationRange(text: string, isEnd: boolean): { from: string; to: string } {
  writer.begin()
  writer.text(text, 0, text.length)
  if (isEnd) writer.symbol(MARK)
  const lacking = writer.end()
  const from = writer.bytes.toString('latin1', 0, writer.length)
  const last = writer.bytes.readUInt16BE(writer.length - 2) + SYMBOLS ** lacking
  return { from, to: from.slice(0, -2) + String.fromCharCode(last >> 8, last & 255) }
}
