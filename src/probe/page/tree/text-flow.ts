/** The text of a page in tree order. Text that is misplaced in a table comes before that table. */

const MAX_TEXT_UNITS = 256 * 1024

const LINE_BREAK = null

/** A run of text. Other runs can be inserted later, each at a marked place. */
export class TextFlow {
  readonly #items: (string | typeof LINE_BREAK)[] = []
  readonly #inserted = new Map<number, TextFlow>()
  readonly #budget: { left: number }

  constructor(budget: { left: number } = { left: MAX_TEXT_UNITS }) {
    this.#budget = budget
  }

  /** Adds text to the line, up to the page's budget of 256 Ki UTF-16 units. */
  add(data: string): void {
    const last = this.#items.at(-1)
    const text = (last === LINE_BREAK ? data.trimStart() : data).slice(0, this.#budget.left)
    if (text === '') return
    this.#budget.left -= text.length
    if (typeof last !== 'string') this.#items.push(text)
    else this.#items[this.#items.length - 1] = last + text
  }

  break(): void {
    if (this.#items.length > 0 && this.#items.at(-1) === LINE_BREAK) return
    this.#items.push(LINE_BREAK)
  }

  /** Breaks the line at a new place and returns the place. */
  markPlace(): number {
    return this.#items.push(LINE_BREAK) - 1
  }

  /** The flow that is inserted before the line break at a marked place. */
  insertedAt(place: number): TextFlow {
    const known = this.#inserted.get(place)
    if (known !== undefined) return known
    const flow = new TextFlow(this.#budget)
    this.#inserted.set(place, flow)
    return flow
  }

  /** The nonempty lines without leading white space. */
  lines(): string[] {
    const lines: string[] = []
    let line = ''
    const end = (): void => {
      const text = line.trimStart()
      if (text !== '') lines.push(text)
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
    for (let place = 0; place < this.#items.length; place++) {
      const inserted = this.#inserted.size > 0 ? this.#inserted.get(place) : undefined
      if (inserted !== undefined) inserted.#forEachItem(callback)
      callback(this.#items[place]!)
    }
  }
}
