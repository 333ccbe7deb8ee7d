/** A page as it streams by, read by the rules of the HTML standard (chapter 13.2.6): which tags are implied, which ignored. */

import { readBodyStart } from './page-body.ts'
import { readBodyEnd } from './page-body-end.ts'
import { PageBuilder, type TreeListener } from './page-builder.ts'
import type { Element } from './page-elements.ts'
import { breaksOut, takesHtml } from './page-foreign.ts'
import { FOSTERING, IN_HEAD, RAW } from './page-names.ts'
import { isQuirky } from './page-quirks.ts'
import { readTableEnd, readTableStart } from './page-table.ts'
import type { Attributes, Listener } from './page-tokens.ts'

export class TreeReader implements Listener {
  readonly #tree: PageBuilder

  constructor(listener: TreeListener) {
    this.#tree = new PageBuilder(listener)
  }

  /** Ends the page; the text that is seen, in lines. */
  end(): string[] {
    return this.#tree.end()
  }

  isForeign(): boolean {
    return this.#tree.isForeign()
  }

  rawName(): string | null {
    const { name, space } = this.#tree.open.current
    return space === 'html' && RAW.has(name) ? name : null
  }

  doctype(text: string): void {
    if (this.#tree.isInHead) this.#tree.quirks = isQuirky(text)
  }

  open(name: string, attributes: Attributes, closed: boolean): void {
    const tree = this.#tree
    tree.selfClosing = closed
    if (tree.phase === 'frames') return
    if (tree.isInHead) this.#openInHead(name, attributes)
    else if (takesHtml(tree.open.current, name)) this.#openHtml(name, attributes)
    else this.#openForeign(name, attributes)
  }

  close(name: string): void {
    const { phase, open, isInHead } = this.#tree
    if (phase === 'frames' || open.isOfDeeper()) return
    if (isInHead) this.#closeInHead(name)
    else if (open.current.space === 'html') this.#closeHtml(name)
    else this.#closeForeign(name)
  }

  text(data: string): void {
    const tree = this.#tree
    const { current } = tree.open
    if (tree.phase === 'frames') return
    if (current.name === 'script') tree.listener.script(data)
    else if (tree.isInHead) {
      const seen = withoutBlank(data)
      if (seen === '') return
      tree.openBody()
      this.#textHtml(seen, tree.open.current)
    } else if (current.space !== 'html') this.#textInForeign(data)
    else if (!RAW.has(current.name)) this.#textHtml(data, current)
  }

  #openHtml(name: string, attributes: Attributes): void {
    if (!readTableStart(this.#tree, name, attributes)) readBodyStart(this.#tree, name, attributes)
  }

  #closeHtml(name: string): void {
    if (this.rawName() === name) this.#tree.open.pop()
    else if (!readTableEnd(this.#tree, name)) readBodyEnd(this.#tree, name)
  }

  #openInHead(name: string, attributes: Attributes): void {
    const tree = this.#tree
    if (name === 'html' || name === 'head') return
    if (name === 'frameset') tree.leaveBody()
    else if (IN_HEAD.has(name)) readBodyStart(tree, name, attributes)
    else {
      tree.openBody()
      if (name === 'body') tree.framesetOk = false
      else this.#openHtml(name, attributes)
    }
  }

  #closeInHead(name: string): void {
    if (name !== 'br' && name !== 'body' && name !== 'html') return
    this.#tree.openBody()
    this.#closeHtml(name)
  }

  #openForeign(name: string, attributes: Attributes): void {
    const { open } = this.#tree
    if (!breaksOut(name, attributes)) {
      this.#tree.insert(name, attributes, open.current.space)
      return
    }
    do open.pop()
    while (!takesHtml(open.current, 'p'))
    if (takesHtml(open.current, name)) this.#openHtml(name, attributes)
    else this.#tree.insert(name, attributes, open.current.space)
  }

  #closeForeign(name: string): void {
    const { open } = this.#tree
    if (name === 'br' || name === 'p') {
      while (!takesHtml(open.current, 'p')) open.pop()
      this.#closeHtml(name)
      return
    }
    for (let index = open.depth - 1; index > 0 && open.spend(1); index--) {
      const element = open.at(index)!
      if (element.space === 'html') {
        this.#closeHtml(name)
        return
      }
      if (element.name !== name) continue
      while (open.pop() !== element);
      return
    }
  }

  #textHtml(data: string, { mode, name }: Element): void {
    const tree = this.#tree
    const isWhite = withoutBlank(data) === ''
    if (mode === 'colgroup' && name === 'colgroup') {
      if (isWhite) return
      tree.open.pop()
      this.#textHtml(withoutBlank(data), tree.open.current)
    } else if (mode !== 'select' && FOSTERING.has(name)) {
      if (!isWhite) tree.fostering(() => this.#textInBody(data, isWhite))
    } else this.#textInBody(data, isWhite)
  }

  #textInForeign(data: string): void {
    if (withoutBlank(data) !== '') this.#tree.framesetOk = false
    this.#tree.addText(data)
  }

  #textInBody(data: string, isBlank: boolean): void {
    const tree = this.#tree
    if (tree.open.current.mode !== 'select') tree.reconstruct()
    if (!isBlank) tree.framesetOk = false
    tree.addText(data)
  }
}

/** A text without the white space in front, as HTML has it (chapter 13.2.6.4): tab, line feed, form feed, carriage return and space. */
function withoutBlank(text: string): string {
  let at = 0
  for (let code = text.charCodeAt(0); isBlank(code); code = text.charCodeAt(at)) at++
  return at === 0 ? text : text.slice(at)
}

function isBlank(code: number): boolean {
  return code === 32 || code === 10 || code === 9 || code === 13 || code === 12
}
