/** Finds the word that is closest to a misspelt one. */

/** The word with the smallest edit distance, the first if several are equal; undefined if there are no words. */
export function closestWord(text: string, words: readonly string[]): string | undefined {
  return words.toSorted((a, b) => editDistance(a, text) - editDistance(b, text))[0]
}

/** The smallest number of insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let previousRow: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let at = 0; at < a.length; at++) {
    const next = [at + 1]
    for (let index = 0; index < b.length; index++) {
      const isSwap = at > 0 && index > 0 && a[at] === b[index - 1] && a[at - 1] === b[index]
      const swapped = isSwap ? previousRow[index - 1]! + 1 : Number.POSITIVE_INFINITY
      const changed = row[index]! + (a[at] === b[index] ? 0 : 1)
      next.push(Math.min(row[index + 1]! + 1, next[index]! + 1, changed, swapped))
    }
    previousRow = row
    row = next
  }
  return row[b.length]!
}
