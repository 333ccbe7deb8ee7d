/**
 * The tree of a page under construction: open elements, and the insertion of text and elements (HTML, section 13.2.6).
 */

import { ActiveFormattingElements } from './active-formatting.ts'
import { VOID_ELEMENTS } from './element-names.ts'
import { type MarkupNamespace, usesHtmlRules } from './foreign-content.ts'
import { innerVisibility, type OpenElement, OpenElements, type Visibility } from './open-elements.ts'
import { TextFlow } from './text-flow.ts'
import type { TagAttributes } from './tokenizer.ts'

/** Receives the elements. */
export type TreeObserver = {
  /** The visibility of the text inside an element, by its own tag. */
  visibilityOf(name: string, attributes: TagAttributes): Visibility
  isInline(name: string): boolean
  /** An element starts. Not called inside inert content. */
  onElementStart(name: string, attributes: TagAttributes): void
  /** An opened element ends. */
  onElementEnd(name: string): void
  onScriptText(data: string): void
  /** The body is discarded, because the page has frames instead. */
  onBodyDiscarded(): void
}

const NO_ATTRIBUTES: TagAttributes = Object.freeze({})

export class HtmlTreeBuilder {
  readonly open: OpenElements
  readonly active: ActiveFormattingElements
  readonly observer: TreeObserver
  readonly #textFlow = new TextFlow()
  phase: 'head' | 'body' | 'frames' = 'head'
  /** The open form outside of templates. */
  form: OpenElement | null = null
  /** Whether the page has no doctype or an old one. */
  quirks = true
  /** Whether the current start tag is self-closing. */
  selfClosing = false
  /** Whether frames may still replace the body. */
  framesetOk = true
  /** Whether insertions directly into a table go in front of it. */
  #isFostering = false

  constructor(observer: TreeObserver) {
    this.observer = observer
    this.open = new OpenElements((element) => this.#onPopped(element))
    this.active = new ActiveFormattingElements(this.open, (element, { visibility, textFlow }) => ({
      ...element,
      visibility: innerVisibility(visibility, element.ownVisibility),
      textFlow,
    }))
    this.insert('html')
  }

  /** Ends the page. Returns the visible lines. */
  end(): string[] {
    while (this.open.depth > 0) this.open.pop()
    return this.#textFlow.lines()
  }

  /** Whether only the root is open and the body has not started. */
  get isInHead(): boolean {
    return this.phase === 'head' && this.open.depth === 1
  }

  /** Opens an element. A void element, and a self-closing one of SVG or MathML, ends immediately. */
  insert(name: string, attributes: TagAttributes = NO_ATTRIBUTES, namespace: MarkupNamespace = 'html'): OpenElement {
    const { visibility, textFlow } =
      this.open.depth === 0
        ? { visibility: 'visible' as const, textFlow: this.#textFlow }
        : this.open.insertionPoint(this.#isFostering)
    const own = this.observer.visibilityOf(name, attributes)
    const place = name === 'table' ? textFlow.markPlace() : 0
    const inside = innerVisibility(visibility, own)
    const element: OpenElement = {
      name,
      namespace,
      attributes,
      ownVisibility: own,
      visibility: inside,
      mode: 'body',
      textFlow,
      place,
      isOpen: false,
    }
    if (visibility !== 'inert') this.observer.onElementStart(name, attributes)
    if (!this.observer.isInline(name)) textFlow.break()
    if (namespace === 'html' ? VOID_ELEMENTS.has(name) : this.selfClosing) return element
    if (this.open.isFull) this.open.pushBeyondLimit()
    else this.open.push(element)
    return element
  }

  /** Adds text at the insertion point of elements. */
  addText(data: string): void {
    const { visibility, textFlow } = this.open.insertionPoint(this.#isFostering)
    if (visibility === 'visible') textFlow.add(data)
  }

  /** Runs an action by the rules of the body, with its insertions in front of a table instead of in it. */
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

  /** The page has frames, so none of its other content is shown. */
  discardBody(): void {
    if (this.phase === 'body') this.observer.onBodyDiscarded()
    this.phase = 'frames'
  }

  isForeign(): boolean {
    const { current } = this.open
    return current.namespace === 'html' ? current.mode === 'select' : !usesHtmlRules(current, 'title')
  }

  #onPopped({ name, textFlow }: OpenElement): void {
    if (!this.observer.isInline(name)) textFlow.break()
    this.observer.onElementEnd(name)
  }
}
