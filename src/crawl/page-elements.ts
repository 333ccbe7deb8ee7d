/** The open elements of a page, and what they say of the text inside: seen, hidden, or not part of the page at all. */

/** Deeper elements are not remembered, as in browsers. */
const MOST_OPEN = 512

/** HTML, chapter 13.1.2: they have no content and no end tag. */
const VOID = words(
  'area base basefont bgsound br col command embed frame hr image img input keygen link meta param source track wbr',
)

/** What is not HTML inside (HTML, chapter 13.1.2). */
const FOREIGN = words('svg math')

/** An element that ends where another begins (HTML, chapter 13.1.2.4), so far as it matters to what is hidden. */
const ENDED_BY = new Map<string, ReadonlySet<string>>([
  ['li', words('li')],
  ['dt', words('dt dd')],
  ['dd', words('dt dd')],
  ['option', words('option optgroup')],
  ['td', words('td th tr tbody tfoot')],
  ['th', words('td th tr tbody tfoot')],
  ['tr', words('tr tbody tfoot')],
  ['a', words('a')],
  ['head', words('body')],
  [
    'p',
    words(
      'address article aside blockquote center details dialog div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr main menu nav ol p pre search section table ul',
    ),
  ],
])

/** The state of the text at one place. `inert`: not part of the page, so that its links count as little as its text. */
export type Shown = 'seen' | 'hidden' | 'inert'

export class OpenElements {
  readonly #open: string[] = []
  /** How many of each name are open, so that an end tag without its element costs nothing. */
  readonly #count = new Map<string, number>()
  /** How many of them are `svg` and `math`. */
  #foreign = 0
  /** Elements beyond MOST_OPEN, which are counted only. */
  #deeper = 0
  /** How many were open when the outermost hidden or inert element was opened. */
  #hidden = Number.POSITIVE_INFINITY
  #inert = Number.POSITIVE_INFINITY

  /** Opens an element, ending those that it ends. A void element changes nothing. */
  open(name: string, shown: Shown): void {
    while (ENDED_BY.get(this.#open.at(-1) ?? '')?.has(name)) this.#pop()
    if (VOID.has(name)) return
    if (this.#open.length >= MOST_OPEN) {
      this.#deeper++
      return
    }
    if (shown === 'hidden') this.#hidden = Math.min(this.#hidden, this.#open.length)
    if (shown === 'inert') this.#inert = Math.min(this.#inert, this.#open.length)
    this.#open.push(name)
    if (FOREIGN.has(name)) this.#foreign++
    this.#count.set(name, (this.#count.get(name) ?? 0) + 1)
  }

  /** Closes the innermost element of that name and all inside it; without one nothing. */
  close(name: string): void {
    if (VOID.has(name)) return
    if (this.#deeper > 0) this.#deeper--
    else if ((this.#count.get(name) ?? 0) > 0) while (this.#pop() !== name);
  }

  get isForeign(): boolean {
    return this.#foreign > 0
  }

  get shown(): Shown {
    if (this.#inert < Number.POSITIVE_INFINITY) return 'inert'
    return this.#hidden < Number.POSITIVE_INFINITY ? 'hidden' : 'seen'
  }

  #pop(): string | undefined {
    const name = this.#open.pop()
    if (name !== undefined) this.#count.set(name, (this.#count.get(name) ?? 1) - 1)
    if (this.#foreign > 0 && FOREIGN.has(name ?? '')) this.#foreign--
    if (this.#open.length <= this.#hidden) this.#hidden = Number.POSITIVE_INFINITY
    if (this.#open.length <= this.#inert) this.#inert = Number.POSITIVE_INFINITY
    return name
  }
}

/** The names in a line, as a set. */
export function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}
