/** The edit distance of two texts. */

/**
 * The Damerau–Levenshtein distance with adjacent transpositions, each part of the text edited once (optimal string
 * alignment). Any number above `max` stands for all of these.
 */
export function editDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1
  let [beforeLast, last] = [new Uint8Array(), Uint8Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let row = 1; row <= a.length; row++) {
    const next = new Uint8Array(b.length + 1)
    next[0] = row
    let least = row
    for (let column = 1; column <= b.length; column++) {
      const isEqual = a[row - 1] === b[column - 1]
      let cost = Math.min(last[column]! + 1, next[column - 1]! + 1, last[column - 1]! + (isEqual ? 0 : 1))
      const isExchanged = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (isExchanged) cost = Math.min(cost, beforeLast[column - 2]! + 1)
      next[column] = cost
      least = Math.min(least, cost)
    }
    if (least > max) return max + 1
    ;[beforeLast, last] = [last, next]
  }
  return last[b.length]!
}
