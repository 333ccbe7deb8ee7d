/** The tree of a page while it is built: open elements, and where text and elements go (HTML, chapter 13.2.6). */

import { type Element, OpenElements, type Shown, within } from './page-elements.ts'
import { type Space, takesHtml } from './page-foreign.ts'
import { ActiveFormatting } from './page-formatting.ts'
import { VOID } from './page-names.ts'
import { TextFlow } from './page-text.ts'
import type { Attributes } from './page-tokens.ts'

/** Who hears of the elements. */
export type TreeListener = {
  /** What an element says of the text inside. */
  shownBy(name: string, attributes: Attributes): Shown
  isInline(name: string): boolean
  /** An element begins. Not called inside of what is no part of the page. */
  began(name: string, attributes: Attributes): void
  /** An element that had been opened ends. */
  ended(name: string): void
  script(data: string): void
  /** All that was in the body is gone: the page has frames instead. */
  bodyLeft(): void
}

const NO_ATTRIBUTES: Attributes = Object.freeze({})

export class PageBuilder {
  readonly open: OpenElements
  readonly active: ActiveFormatting
  readonly listener: TreeListener
  readonly #flow = new TextFlow()
  phase: 'head' | 'body' | 'frames' = 'head'
  /** The form that is open, outside of templates. */
  form: Element | null = null
  /** A page without a doctype, or with an old one. */
  quirks = true
  /** Whether the start tag that is read ends in itself. */
  selfClosing = false
  /** Whether frames may still take the place of the body. */
  framesetOk = true
  /** Whether what would be inserted into a table itself goes in front of it. */
  #foster = false

  constructor(listener: TreeListener) {
    this.listener = listener
    this.open = new OpenElements((element) => this.#ended(element))
    this.active = new ActiveFormatting(this.open, (element, { shown, flow }) => ({
      ...element,
      shown: within(shown, element.own),
      flow,
    }))
    this.insert('html')
  }

  /** Ends the page; the text that is seen, in lines. */
  end(): string[] {
    while (this.open.depth > 0) this.open.pop()
    return this.#flow.lines()
  }

  /** Whether nothing but the root is open, and the body has not begun. */
  get isInHead(): boolean {
    return this.phase === 'head' && this.open.depth === 1
  }

  /** Opens an element; one without content, and one of SVG or MathML that ends in its own start tag, ends at once. */
  insert(name: string, attributes: Attributes = NO_ATTRIBUTES, space: Space = 'html'): Element {
    const { shown, flow } =
      this.open.depth === 0 ? { shown: 'seen' as const, flow: this.#flow } : this.open.spot(this.#foster)
    const own = this.listener.shownBy(name, attributes)
    const place = name === 'table' ? flow.mark() : 0
    const inside = within(shown, own)
    const element: Element = { name, space, attributes, own, shown: inside, mode: 'body', flow, place, isOpen: false }
    if (shown !== 'inert') this.listener.began(name, attributes)
    if (!this.listener.isInline(name)) flow.break()
    if (space === 'html' ? VOID.has(name) : this.selfClosing) return element
    if (this.open.isFull) this.open.deepen()
    else this.open.push(element)
    return element
  }

  /** Adds text where an element would be inserted. */
  addText(data: string): void {
    const { shown, flow } = this.open.spot(this.#foster)
    if (shown === 'seen') flow.add(data)
  }

  /** Does something by the rules of the body whose result does not go into a table itself. */
  fostering(read: () => void): void {
    const before = this.#foster
    this.#foster = true
    read()
    this.#foster = before
  }

  reconstruct(): void {
    this.active.reconstruct(this.#foster)
  }

  openBody(): void {
    this.phase = 'body'
    this.insert('body')
  }

  /** The page has frames: nothing else of it is shown. */
  leaveBody(): void {
    if (this.phase === 'body') this.listener.bodyLeft()
    this.phase = 'frames'
  }

  isForeign(): boolean {
    const { current } = this.open
    return current.space === 'html' ? current.mode === 'select' : !takesHtml(current, 'title')
  }

  #ended({ name, flow }: Element): void {
    if (!this.listener.isInline(name)) flow.break()
    this.listener.ended(name)
  }
}
