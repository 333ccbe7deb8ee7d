/** Compares texts by their UTF-8 bytes. JavaScript itself compares UTF-16 units, which gives another order. */

/** A compare function for Array.sort: the order of the UTF-8 bytes. */
export function compareBytewise(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let at = 0; at < shorter; at++) {
    const difference = codePointRank(a.charCodeAt(at)) - codePointRank(b.charCodeAt(at))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Moves surrogates behind U+FFFF, because the characters that they encode come after it. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
