/** Splits a stream of bytes into blocks of one size. */

/**
 * Copies the source into blocks of `size` bytes, each in a buffer that `newBuffer` gives; the last one may be smaller.
 * Calls `onPiece` for each piece of the source.
 */
export async function* fixedSizeBlocks(
  source: AsyncIterable<Uint8Array>,
  size: number,
  newBuffer: (size: number) => Uint8Array,
  onPiece: (piece: Uint8Array) => void = () => {},
): AsyncGenerator<Uint8Array> {
  let block = newBuffer(size)
  let filled = 0
  for await (const piece of source) {
    onPiece(piece)
    for (let at = 0; at < piece.length; ) {
      const count = Math.min(piece.length - at, size - filled)
      block.set(piece.subarray(at, at + count), filled)
      at += count
      filled += count
      if (filled < size) continue
      yield block
      block = newBuffer(size)
      filled = 0
    }
  }
  if (filled > 0) yield block.subarray(0, filled)
}
