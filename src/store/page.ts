/** The JSON of a page of shared rows, out of slices that an engine has written: no name, address or time needs an escape. */

const BEGIN = Buffer.from('[{"target":"')
/** What stands between two rows. */
export const BETWEEN = '"},{"target":"'
const BETWEEN_SLICES = Buffer.from(BETWEEN)
const END = Buffer.from('"}]')
const NO_ROWS = Buffer.from('[]')

/** Each slice from its first name to the end of its last value. */
export function jsonOf(slices: readonly Uint8Array[]): Uint8Array[] {
  if (slices.length === 0) return [NO_ROWS]
  return [...slices.flatMap((slice, index) => [index === 0 ? BEGIN : BETWEEN_SLICES, slice]), END]
}
