// The bytewise order of texts: that of their UTF-8 bytes, which is not JavaScript's own order of UTF-16 units.

/** Negative, 0 or positive as `a` comes before, equals or comes after `b` in bytes of UTF-8; for Array.sort. */
export function compareBytewise(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let at = 0; at < shorter; at++) {
    const difference = codePointRank(a.charCodeAt(at)) - codePointRank(b.charCodeAt(at))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** A UTF-16 unit with the surrogates moved behind U+FFFF, where the characters they write belong. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
