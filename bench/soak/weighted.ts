/** A random choice by weight. */

export function chooseByWeight<Item extends { weight: number }>(items: readonly Item[], random: () => number): Item {
  let left = random() * items.reduce((sum, { weight }) => sum + weight, 0)
  for (const item of items) {
    left -= item.weight
    if (left < 0) return item
  }
  return items.at(-1)!
}
