/** The text of a page in the order of its tree, where text that stands wrongly in a table comes before that table. */

const MAX_TEXT_UNITS = 256 * 1024

/** A break between two lines. */
const LINE_BREAK = null

/** A run of text in which others may be inserted later, each at a place that was noted before. */
export class TextFlow {
  readonly #items: (string | typeof LINE_BREAK)[] = []
  readonly #inserted = new Map<number, TextFlow>()
  readonly #budget: { left: number }

  constructor(budget: { left: number } = { left: MAX_TEXT_UNITS }) {
    this.#budget = budget
  }

  /** Adds text to the line, as far as the page's budget of 256 Ki UTF-16 units goes. */
  add(data: string): void {
    const last = this.#items.at(-1)
    const kept = (last === LINE_BREAK ? data.trimStart() : data).slice(0, this.#budget.left)
    if (kept === '') return
    this.#budget.left -= kept.length
    if (typeof last !== 'string') this.#items.push(kept)
    else this.#items[this.#items.length - 1] = last + kept
  }

  break(): void {
    if (this.#items.length > 0 && this.#items.at(-1) === LINE_BREAK) return
    this.#items.push(LINE_BREAK)
  }

  /** Breaks the line at a place that no other call has; returns it. */
  markPlace(): number {
    return this.#items.push(LINE_BREAK) - 1
  }

  /** The flow that is inserted in front of the break at a place that was marked. */
  insertedAt(place: number): TextFlow {
    const known = this.#inserted.get(place)
    if (known !== undefined) return known
    const made = new TextFlow(this.#budget)
    this.#inserted.set(place, made)
    return made
  }

  /** The lines without white space in front; no empty ones. */
  lines(): string[] {
    const lines: string[] = []
    let line = ''
    const end = (): void => {
      const kept = line.trimStart()
      if (kept !== '') lines.push(kept)
      line = ''
    }
    this.#forEachItem((item) => {
      if (item === LINE_BREAK) end()
      else line += item
    })
    end()
    return lines
  }

  #forEachItem(callback: (item: string | typeof LINE_BREAK) => void): void {
    for (const [place, item] of this.#items.entries()) {
      const inserted = this.#inserted.get(place)
      if (inserted !== undefined) inserted.#forEachItem(callback)
      callback(item)
    }
  }
}
