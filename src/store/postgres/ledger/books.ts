/** The books: some budgets and the holds on them while they are locked, and what calls make of them. */

import { shareOf } from '../../../accounts/budget.ts'
import type { Day } from '../../../words/time.ts'
import type { Ask, Grant, Payment, Purchase, Settlement } from '../../ledger.ts'

/** Whose budget, of which day. */
export type Key = { account: number; day: Day }

export type Budget = Key & { used: number }
export type Hold = Key & { holder: string; units: number }

/** A file that is paid for. */
export type Download = Key & { file: string }

/** An open budget: `held` is the sum of its holds. */
type Page = Budget & { held: number; holds: Map<string, number>; isChanged: boolean }

export class Books {
  readonly #pages: Map<string, Page>
  readonly #changed = new Map<string, Hold>()
  readonly #paid: Set<string>
  readonly #bought: Download[] = []

  constructor(budgets: readonly Budget[], holds: readonly Hold[], paid: readonly Download[]) {
    this.#paid = new Set(paid.map(markOf))
    this.#pages = new Map(
      budgets.map((budget) => [nameOf(budget), { ...budget, held: 0, holds: new Map(), isChanged: false }]),
    )
    for (const { units, holder, ...key } of holds) {
      const page = this.#page(key)
      page.holds.set(holder, units)
      page.held += units
    }
  }

  /** `live`: how many processes may want some, the asking one included. */
  take(ask: Ask, live: number): Grant {
    const page = this.#page(ask)
    const { used, held } = page
    const free = ask.limit - used - held
    if (free <= 0) return { granted: 0, used, held, wait: held > 0 }
    const granted = shareOf(free, ask.want, live)
    if (granted === 1) this.#spend(page, 1)
    else this.#hold(page, ask.holder, (page.holds.get(ask.holder) ?? 0) + granted)
    return { granted, used: page.used, held: page.held, wait: false }
  }

  pay({ file, ...ask }: Purchase): Payment {
    const download = { account: ask.account, day: ask.day, file }
    const mark = markOf(download)
    if (this.#paid.has(mark)) return { is: 'paid', used: this.#page(ask).used }
    const { granted, used, wait } = this.take({ ...ask, want: 1 }, 1)
    if (granted === 0) return { is: wait ? 'wait' : 'refused', used }
    this.#paid.add(mark)
    this.#bought.push(download)
    return { is: 'spent', used }
  }

  /** A holder that was silent too long has no hold any more: settling it changes nothing. */
  settle(settlement: Settlement): void {
    const { holder, spent, returned } = settlement
    const page = this.#page(settlement)
    const units = page.holds.get(holder)
    if (units === undefined) return
    const settled = Math.min(spent + returned, units)
    this.#hold(page, holder, units - settled)
    if (spent > 0) this.#spend(page, Math.min(spent, settled))
  }

  giveBack(key: Key): void {
    const page = this.#page(key)
    if (page.used > 0) this.#spend(page, -1)
  }

  /** What is to be written: a hold of no units is to be removed. */
  changes(): { budgets: Budget[]; holds: Hold[]; bought: Download[] } {
    return {
      budgets: [...this.#pages.values()].filter(({ isChanged }) => isChanged),
      holds: [...this.#changed.values()],
      bought: this.#bought,
    }
  }

  #page(key: Key): Page {
    return this.#pages.get(nameOf(key))!
  }

  #spend(page: Page, units: number): void {
    page.used += units
    page.isChanged = true
  }

  #hold(page: Page, holder: string, units: number): void {
    const { account, day } = page
    page.held += units - (page.holds.get(holder) ?? 0)
    if (units > 0) page.holds.set(holder, units)
    else page.holds.delete(holder)
    this.#changed.set(`${nameOf(page)} ${holder}`, { account, day, holder, units })
  }
}

/** Tells budgets apart. */
export function nameOf({ account, day }: Key): string {
  return `${account} ${day}`
}

function markOf({ file, ...key }: Download): string {
  return `${nameOf(key)} ${file}`
}
