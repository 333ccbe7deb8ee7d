/** Precision and recall by network. */

type Count = { right: number; extra: number; missed: number }
type Row = Count & { network: string; precision: number; recall: number }

export class Score {
  readonly #counts = new Map<string, Count>()
  /** A sentence for each disagreement. */
  readonly wrong: string[] = []

  /**
   * One judgement; `right`: what was found is what was expected. A wrong find counts as one too many and one missed.
   */
  add(network: string, expected: boolean, found: boolean, right: boolean, what: string): void {
    if (expected && found && right) this.#count(network).right++
    if (found && !(expected && right)) this.extra(network, what)
    if (expected && !(found && right)) this.miss(network, what)
  }

  extra(network: string, what: string): void {
    this.#count(network).extra++
    this.wrong.push(`too many (${network}): ${what}`)
  }

  miss(network: string, what: string): void {
    this.#count(network).missed++
    this.wrong.push(`missed (${network}): ${what}`)
  }

  table(): Row[] {
    const rows = [...this.#counts].map(([network, count]) => withShares(network, count))
    return rows.sort((a, b) => b.right - a.right)
  }

  total(): Row {
    const sum = { right: 0, extra: 0, missed: 0 }
    for (const { right, extra, missed } of this.#counts.values()) {
      sum.right += right
      sum.extra += extra
      sum.missed += missed
    }
    return withShares('all', sum)
  }

  #count(network: string): Count {
    const known = this.#counts.get(network)
    if (known !== undefined) return known
    const count = { right: 0, extra: 0, missed: 0 }
    this.#counts.set(network, count)
    return count
  }
}

function withShares(network: string, count: Count): Row {
  const { right, extra, missed } = count
  return { network, ...count, precision: share(right, extra), recall: share(right, missed) }
}

function share(right: number, wrong: number): number {
  return right + wrong === 0 ? 1 : right / (right + wrong)
}
