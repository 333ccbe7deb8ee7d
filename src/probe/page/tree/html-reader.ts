/** Reads a page as a stream by the rules of the HTML standard (section 13.2.6), including implied and ignored tags. */

import { handleBodyEndTag } from './body-end-tags.ts'
import { handleBodyStartTag } from './body-start-tags.ts'
import { FOSTER_PARENTING_ELEMENTS, HEAD_ELEMENTS, RAW_TEXT_ELEMENTS } from './element-names.ts'
import { isBreakoutTag, usesHtmlRules } from './foreign-content.ts'
import type { OpenElement } from './open-elements.ts'
import { isQuirksDoctype } from './quirks.ts'
import { handleTableEndTag, handleTableStartTag } from './table.ts'
import type { TagAttributes, TokenHandler } from './tokenizer.ts'
import { HtmlTreeBuilder, type TreeObserver } from './tree-builder.ts'

export class HtmlTreeReader implements TokenHandler {
  readonly #tree: HtmlTreeBuilder

  constructor(observer: TreeObserver) {
    this.#tree = new HtmlTreeBuilder(observer)
  }

  /** Ends the page. Returns the visible lines. */
  end(): string[] {
    return this.#tree.end()
  }

  isForeign(): boolean {
    return this.#tree.isForeign()
  }

  rawTextElement(): string | null {
    const { name, namespace } = this.#tree.open.current
    return namespace === 'html' && RAW_TEXT_ELEMENTS.has(name) ? name : null
  }

  doctype(text: string): void {
    if (this.#tree.isInHead) this.#tree.quirks = isQuirksDoctype(text)
  }

  open(name: string, attributes: TagAttributes, closed: boolean): void {
    const tree = this.#tree
    tree.selfClosing = closed
    if (tree.phase === 'frames') return
    if (tree.isInHead) this.#openInHead(name, attributes)
    else if (usesHtmlRules(tree.open.current, name)) this.#openHtml(name, attributes)
    else this.#openForeign(name, attributes)
  }

  close(name: string): void {
    const { phase, open, isInHead } = this.#tree
    if (phase === 'frames' || open.popBeyondLimit()) return
    if (isInHead) this.#closeInHead(name)
    else if (open.current.namespace === 'html') this.#closeHtml(name)
    else this.#closeForeign(name)
  }

  text(data: string): void {
    const tree = this.#tree
    const { current } = tree.open
    if (tree.phase === 'frames') return
    if (current.name === 'script') tree.observer.onScriptText(data)
    else if (tree.isInHead) {
      const text = trimLeadingWhiteSpace(data)
      if (text === '') return
      tree.openBody()
      this.#textHtml(text, tree.open.current)
    } else if (current.namespace !== 'html') this.#textInForeign(data)
    else if (!RAW_TEXT_ELEMENTS.has(current.name)) this.#textHtml(data, current)
  }

  #openHtml(name: string, attributes: TagAttributes): void {
    if (!handleTableStartTag(this.#tree, name, attributes)) handleBodyStartTag(this.#tree, name, attributes)
  }

  #closeHtml(name: string): void {
    if (this.rawTextElement() === name) this.#tree.open.pop()
    else if (!handleTableEndTag(this.#tree, name)) handleBodyEndTag(this.#tree, name)
  }

  #openInHead(name: string, attributes: TagAttributes): void {
    const tree = this.#tree
    if (name === 'html' || name === 'head') return
    if (name === 'frameset') tree.discardBody()
    else if (HEAD_ELEMENTS.has(name)) handleBodyStartTag(tree, name, attributes)
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

  #openForeign(name: string, attributes: TagAttributes): void {
    const { open } = this.#tree
    if (!isBreakoutTag(name, attributes)) {
      this.#tree.insert(name, attributes, open.current.namespace)
      return
    }
    do open.pop()
    while (!usesHtmlRules(open.current, 'p'))
    if (usesHtmlRules(open.current, name)) this.#openHtml(name, attributes)
    else this.#tree.insert(name, attributes, open.current.namespace)
  }

  #closeForeign(name: string): void {
    const { open } = this.#tree
    if (name === 'br' || name === 'p') {
      while (!usesHtmlRules(open.current, 'p')) open.pop()
      this.#closeHtml(name)
      return
    }
    for (let index = open.depth - 1; index > 0 && open.spendSteps(1); index--) {
      const element = open.at(index)!
      if (element.namespace === 'html') {
        this.#closeHtml(name)
        return
      }
      if (element.name !== name) continue
      while (open.pop() !== element);
      return
    }
  }

  #textHtml(data: string, { mode, name }: OpenElement): void {
    const tree = this.#tree
    const isWhite = trimLeadingWhiteSpace(data) === ''
    if (mode === 'colgroup' && name === 'colgroup') {
      if (isWhite) return
      tree.open.pop()
      this.#textHtml(trimLeadingWhiteSpace(data), tree.open.current)
    } else if (mode !== 'select' && FOSTER_PARENTING_ELEMENTS.has(name)) {
      if (!isWhite) tree.withFosterParenting(() => this.#textInBody(data, isWhite))
    } else this.#textInBody(data, isWhite)
  }

  #textInForeign(data: string): void {
    if (trimLeadingWhiteSpace(data) !== '') this.#tree.framesetOk = false
    this.#tree.addText(data)
  }

  #textInBody(data: string, isBlank: boolean): void {
    const tree = this.#tree
    if (tree.open.current.mode !== 'select') tree.reconstruct()
    if (!isBlank) tree.framesetOk = false
    tree.addText(data)
  }
}

/** Removes leading HTML white space (section 13.2.6.4): tab, line feed, form feed, carriage return and space. */
function trimLeadingWhiteSpace(text: string): string {
  let at = 0
  for (let code = text.charCodeAt(0); isHtmlWhiteSpace(code); code = text.charCodeAt(at)) at++
  return at === 0 ? text : text.slice(at)
}

function isHtmlWhiteSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 9 || code === 13 || code === 12
}
