/** Precision and recall by network. */

type Count = { right: number; falsePositives: number; falseNegatives: number }
type Row = Count & { network: string; precision: number; recall: number }

export class Score {
  readonly #counts = new Map<string, Count>()
  /** One line for each disagreement. */
  readonly wrong: string[] = []

  /**
   * Adds one result. `right`: whether the found account is the expected one. A wrong account counts as a false positive
   * and as a false negative.
   */
  add(network: string, expected: boolean, found: boolean, right: boolean, what: string): void {
    if (expected && found && right) this.#count(network).right++
    if (found && !(expected && right)) this.addFalsePositive(network, what)
    if (expected && !(found && right)) this.addFalseNegative(network, what)
  }

  addFalsePositive(network: string, what: string): void {
    this.#count(network).falsePositives++
    this.wrong.push(`false positive (${network}): ${what}`)
  }

  addFalseNegative(network: string, what: string): void {
    this.#count(network).falseNegatives++
    this.wrong.push(`missed (${network}): ${what}`)
  }

  table(): Row[] {
    const rows = [...this.#counts].map(([network, count]) => withShares(network, count))
    return rows.sort((a, b) => b.right - a.right)
  }

  total(): Row {
    const sum = { right: 0, falsePositives: 0, falseNegatives: 0 }
    for (const { right, falsePositives, falseNegatives } of this.#counts.values()) {
      sum.right += right
      sum.falsePositives += falsePositives
      sum.falseNegatives += falseNegatives
    }
    return withShares('all', sum)
  }

  #count(network: string): Count {
    const known = this.#counts.get(network)
    if (known !== undefined) return known
    const count = { right: 0, falsePositives: 0, falseNegatives: 0 }
    this.#counts.set(network, count)
    return count
  }
}

function withShares(network: string, count: Count): Row {
  const { right, falsePositives, falseNegatives } = count
  return { network, ...count, precision: share(right, falsePositives), recall: share(right, falseNegatives) }
}

function share(right: number, wrong: number): number {
  return right + wrong === 0 ? 1 : right / (right + wrong)
}
