/** A page of XHTML as it streams by: elements end where their end tags stand, and nothing is implied. */

import { PageBuilder, type TreeListener } from './page-builder.ts'
import type { Attributes, Listener } from './page-tokens.ts'

export class XmlReader implements Listener {
  readonly #tree: PageBuilder

  constructor(listener: TreeListener) {
    this.#tree = new PageBuilder(listener)
  }

  /** Ends the page; the text that is seen, in lines. */
  end(): string[] {
    return this.#tree.end()
  }

  isForeign(): boolean {
    return false
  }

  rawName(): null {
    return null
  }

  doctype(): void {}

  open(name: string, attributes: Attributes, closed: boolean): void {
    const element = this.#tree.insert(name, attributes)
    if (closed && element.isOpen) this.#tree.open.pop()
  }

  close(name: string): void {
    const { open } = this.#tree
    if (!open.isOfDeeper() && open.has(name)) open.popUntil(name)
  }

  text(data: string): void {
    const { open, listener } = this.#tree
    if (open.current.name === 'script') listener.script(data)
    else this.#tree.addText(data)
  }
}
