/** Reads an XHTML page as a stream: elements end at their end tags, and nothing is implied. */

import type { TagAttributes, TokenHandler } from './tokenizer.ts'
import { HtmlTreeBuilder, type TreeObserver } from './tree-builder.ts'

export class XhtmlTreeReader implements TokenHandler {
  readonly #tree: HtmlTreeBuilder

  constructor(observer: TreeObserver) {
    this.#tree = new HtmlTreeBuilder(observer)
  }

  /** Ends the page. Returns the visible lines. */
  end(): string[] {
    return this.#tree.end()
  }

  isForeign(): boolean {
    return false
  }

  rawTextElement(): null {
    return null
  }

  doctype(): void {}

  open(name: string, attributes: TagAttributes, closed: boolean): void {
    const element = this.#tree.insert(name, attributes)
    if (closed && element.isOpen) this.#tree.open.pop()
  }

  close(name: string): void {
    const { open } = this.#tree
    if (!open.popBeyondLimit() && open.has(name)) open.popUntil(name)
  }

  text(data: string): void {
    const { open, observer } = this.#tree
    if (open.current.name === 'script') observer.onScriptText(data)
    else this.#tree.addText(data)
  }
}
