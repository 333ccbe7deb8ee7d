/** The tree of a page while it is built: open elements, and where text and elements go (HTML, chapter 13.2.6). */

import { ActiveFormattingElements } from './active-formatting.ts'
import { VOID_ELEMENTS } from './element-names.ts'
import { type MarkupNamespace, usesHtmlRules } from './foreign-content.ts'
import { innerVisibility, type OpenElement, OpenElements, type Visibility } from './open-elements.ts'
import { TextFlow } from './text-flow.ts'
import type { TagAttributes } from './tokenizer.ts'

/** Who hears of the elements. */
export type TreeObserver = {
  /** What an element says of the text inside. */
  visibilityOf(name: string, attributes: TagAttributes): Visibility
  isInline(name: string): boolean
  /** An element begins. Not called inside of what is no part of the page. */
  onElementStart(name: string, attributes: TagAttributes): void
  /** An element that had been opened ends. */
  onElementEnd(name: string): void
  onScriptText(data: string): void
  /** All that was in the body is gone: the page has frames instead. */
  onBodyDiscarded(): void
}

const NO_ATTRIBUTES: TagAttributes = Object.freeze({})

export class HtmlTreeBuilder {
  readonly open: OpenElements
  readonly active: ActiveFormattingElements
  readonly observer: TreeObserver
  readonly #textFlow = new TextFlow()
  phase: 'head' | 'body' | 'frames' = 'head'
  /** The form that is open, outside of templates. */
  form: OpenElement | null = null
  /** A page without a doctype, or with an old one. */
  quirks = true
  /** Whether the start tag that is read ends in itself. */
  selfClosing = false
  /** Whether frames may still take the place of the body. */
  framesetOk = true
  /** Whether what would be inserted into a table itself goes in front of it. */
  #isFostering = false

  constructor(observer: TreeObserver) {
    this.observer = observer
    this.open = new OpenElements((element) => this.#onPopped(element))
    this.active = new ActiveFormattingElements(this.open, (element, { visibility: shown, textFlow: flow }) => ({
      ...element,
      visibility: innerVisibility(shown, element.ownVisibility),
      textFlow: flow,
    }))
    this.insert('html')
  }

  /** Ends the page; the text that is seen, in lines. */
  end(): string[] {
    while (this.open.depth > 0) this.open.pop()
    return this.#textFlow.lines()
  }

  /** Whether nothing but the root is open, and the body has not begun. */
  get isInHead(): boolean {
    return this.phase === 'head' && this.open.depth === 1
  }

  /** Opens an element; one without content, and one of SVG or MathML that ends in its own start tag, ends at once. */
  insert(name: string, attributes: TagAttributes = NO_ATTRIBUTES, space: MarkupNamespace = 'html'): OpenElement {
    const { visibility: shown, textFlow: flow } =
      this.open.depth === 0
        ? { visibility: 'visible' as const, textFlow: this.#textFlow }
        : this.open.insertionPoint(this.#isFostering)
    const own = this.observer.visibilityOf(name, attributes)
    const place = name === 'table' ? flow.markPlace() : 0
    const inside = innerVisibility(shown, own)
    const element: OpenElement = {
      name,
      namespace: space,
      attributes,
      ownVisibility: own,
      visibility: inside,
      mode: 'body',
      textFlow: flow,
      place,
      isOpen: false,
    }
    if (shown !== 'inert') this.observer.onElementStart(name, attributes)
    if (!this.observer.isInline(name)) flow.break()
    if (space === 'html' ? VOID_ELEMENTS.has(name) : this.selfClosing) return element
    if (this.open.isFull) this.open.pushBeyondLimit()
    else this.open.push(element)
    return element
  }

  /** Adds text where an element would be inserted. */
  addText(data: string): void {
    const { visibility: shown, textFlow: flow } = this.open.insertionPoint(this.#isFostering)
    if (shown === 'visible') flow.add(data)
  }

  /** Does something by the rules of the body whose result does not go into a table itself. */
  withFosterParenting(action: () => void): void {
    const previous = this.#isFostering
    this.#isFostering = true
    action()
    this.#isFostering = previous
  }

  reconstruct(): void {
    this.active.reconstruct(this.#isFostering)
  }

  openBody(): void {
    this.phase = 'body'
    this.insert('body')
  }

  /** The page has frames: nothing else of it is shown. */
  discardBody(): void {
    if (this.phase === 'body') this.observer.onBodyDiscarded()
    this.phase = 'frames'
  }

  isForeign(): boolean {
    const { current } = this.open
    return current.namespace === 'html' ? current.mode === 'select' : !usesHtmlRules(current, 'title')
  }

  #onPopped({ name, textFlow: flow }: OpenElement): void {
    if (!this.observer.isInline(name)) flow.break()
    this.observer.onElementEnd(name)
  }
}
