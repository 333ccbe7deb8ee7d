/** The tokens of a page as they stream by: tags with the few attributes that matter, and text. */

import { decodeHTML, decodeHTMLAttribute, decodeXML } from 'entities/decode'
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

/** What is kept of a tag's attributes; the first of a name counts. */
export type TagAttributes = { readonly [name in KeptAttribute]?: string }
const KEPT_ATTRIBUTE_NAMES = [
  'href',
  'xlink:href',
  'rel',
  'type',
  'name',
  'property',
  'content',
  'http-equiv',
  'hidden',
  'style',
  'encoding',
  'color',
  'face',
  'size',
] as const
type KeptAttribute = (typeof KEPT_ATTRIBUTE_NAMES)[number]
const KEPT_ATTRIBUTES: ReadonlySet<string> = new Set(KEPT_ATTRIBUTE_NAMES)

/** Who is told. Names are in lower case; `closed`: a self-closing tag, which ends an element of XML, SVG and MathML alone. */
export type TokenHandler = {
  open(name: string, attributes: TagAttributes, closed: boolean): void
  close(name: string): void
  text(data: string): void
  /** A doctype, without its brackets. */
  doctype(text: string): void
  /** Whether a tag such as `<title>` that comes now is a tag like others: in SVG and MathML, and in a closed list. */
  isForeign(): boolean
  /** The name of the current element if its content is text up to its end tag, otherwise null. */
  rawTextElement(): string | null
}

const NEVER_MATCHES = /(?!)/
const NO_TAG_ATTRIBUTES: TagAttributes = Object.freeze({})

/** In UTF-16 units; what is longer is cut. */
const MAX_VALUE_UNITS = 4096
const MAX_NAME_UNITS = 64

/** So many characters of an end tag may stand at the end of a piece: `</plaintext`. */
const MAX_END_TAG_UNITS = 11

/**
 * Reads a page piece by piece. Work is linear in its length: the tokenizer of htmlparser2 looks at each character once, and
 * its parser, whose stack of open elements costs their number at every tag, is not used. Character references are read in
 * whole runs of text, so that the tokenizer may pass them by. Memory is that of the longest token.
 */
export class HtmlTokenizer implements TokenizerCallbacks {
  readonly #tokenizer: Tokenizer
  readonly #handler: TokenHandler
  readonly #isXml: boolean
  /** What was read and is not told yet, and where in the page it begins. */
  #pending = ''
  #offset = 0
  #emitted = 0
  #tag = ''
  /** The tag that was told last, where that is a start tag. */
  #lastStartTag = ''
  #isInTag = false
  #attributes: { [name in KeptAttribute]?: string } = NO_TAG_ATTRIBUTES
  #attribute: KeptAttribute | null = null
  #value = ''
  /** Text that is not told yet. */
  #textRun = ''
  /** In an element whose text nobody reads, and of which the tokenizer does not know: the end of what was passed over. */
  #skipped: string | null = null
  #rawEnd = NEVER_MATCHES
  #endedWithReturn = false

  constructor(handler: TokenHandler, isXml: boolean) {
    this.#handler = handler
    this.#isXml = isXml
    this.#tokenizer = new Tokenizer({ xmlMode: isXml, decodeEntities: false }, this)
  }

  write(text: string): void {
    let rest = this.#withNewlines(text)
    while (rest !== '') rest = this.#skipped === null ? this.#tokenize(rest) : this.#skip(this.#skipped + rest)
  }

  /** CR LF and CR are one line feed (HTML, chapter 13.2.3.5). */
  #withNewlines(text: string): string {
    const whole = this.#endedWithReturn && text.startsWith('\n') ? text.slice(1) : text
    if (text !== '') this.#endedWithReturn = text.endsWith('\r')
    return whole.includes('\r') ? whole.replace(/\r\n?/g, '\n') : whole
  }

  /** Returns what follows the start tag of an element that is passed over. */
  #tokenize(text: string): string {
    this.#pending = this.#pending.slice(this.#emitted - this.#offset) + text
    this.#offset = this.#emitted
    this.#tokenizer.write(text)
    if (this.#skipped === null) return ''
    const rest = this.#pending.slice(this.#emitted + 1 - this.#offset)
    this.#pending = ''
    this.#offset = 0
    this.#emitted = 0
    this.#tokenizer.reset()
    return rest
  }

  /** Passes over the content of an element; returns its end tag and what follows. */
  #skip(text: string): string {
    const end = text.search(this.#rawEnd)
    this.#skipped = end < 0 ? text.slice(-MAX_END_TAG_UNITS) : null
    return end < 0 ? '' : text.slice(end)
  }

  end(): void {
    this.#tokenizer.resume()
    this.#tokenizer.end()
  }

  #take(start: number, end: number, maxUnits = Number.POSITIVE_INFINITY): string {
    this.#emitted = end
    return this.#pending.slice(start - this.#offset, Math.min(end, start + maxUnits) - this.#offset)
  }

  isInForeignContext(): boolean {
    return this.#handler.isForeign()
  }

  /** A run may come in pieces. */
  ontext(start: number, end: number): void {
    if (this.#isInTag || start < 0) return // inside of a tag that the page ends in
    this.#textRun += this.#take(start, end)
  }

  ontextentity(): void {}

  onopentagname(start: number, end: number): void {
    this.#emitText()
    this.#isInTag = true
    this.#tag = this.#take(start, end, MAX_NAME_UNITS).toLowerCase()
    this.#attributes = NO_TAG_ATTRIBUTES
  }

  onattribname(start: number, end: number): void {
    const name = this.#take(start, end, MAX_NAME_UNITS).toLowerCase() as KeptAttribute
    this.#attribute = KEPT_ATTRIBUTES.has(name) && this.#attributes[name] === undefined ? name : null
    this.#value = ''
  }

  onattribdata(start: number, end: number): void {
    const unitsLeft = this.#attribute === null ? 0 : Math.max(0, MAX_VALUE_UNITS - this.#value.length)
    this.#value += this.#take(start, end, unitsLeft)
  }

  onattribentity(): void {}

  onattribend(_quote: unknown, end: number): void {
    this.#emitted = Math.max(this.#emitted, end)
    if (this.#attribute === null) return
    if (this.#attributes === NO_TAG_ATTRIBUTES) this.#attributes = {}
    this.#attributes[this.#attribute] = this.#isXml ? decodeXML(this.#value) : decodeHTMLAttribute(this.#value)
    this.#attribute = null
  }

  onopentagend(end: number): void {
    this.#isInTag = false
    this.#emitted = end
    this.#lastStartTag = this.#tag
    this.#emitStartTag(false)
  }

  onselfclosingtag(end: number): void {
    this.#isInTag = false
    this.#emitted = end
    this.#emitStartTag(true)
  }

  /** The tokenizer knows what content is text, but for noscript, and for what it took for a tag like others. */
  #emitStartTag(closed: boolean): void {
    const isKnown = this.#isXml || !this.#handler.isForeign()
    this.#handler.open(this.#tag, this.#attributes, closed)
    if (isKnown && this.#tag !== 'noscript') return
    const raw = this.#handler.rawTextElement()
    if (raw === null) return
    this.#skipped = ''
    this.#rawEnd = raw === 'plaintext' ? NEVER_MATCHES : new RegExp(`</${raw}[\\t\\n\\f />]`, 'i')
    this.#tokenizer.pause()
  }

  onclosetag(start: number, end: number): void {
    this.#emitText()
    this.#lastStartTag = ''
    this.#handler.close(this.#take(start, end, MAX_NAME_UNITS).toLowerCase())
  }

  oncdata(start: number, end: number, offset: number): void {
    this.#emitText()
    const data = this.#take(start, end - offset)
    if (this.#isXml || this.#handler.isForeign()) this.#handler.text(data)
    this.#emitted = end
  }

  oncomment(_start: number, end: number): void {
    this.#emitText()
    this.#emitted = end
  }

  ondeclaration(start: number, end: number): void {
    this.#emitText()
    this.#handler.doctype(this.#take(start, end, MAX_VALUE_UNITS))
  }

  onprocessinginstruction(_start: number, end: number): void {
    this.#emitText()
    this.#emitted = end
  }

  onend(): void {
    this.#emitText()
    this.#emitted = this.#offset + this.#pending.length
  }

  #emitText(): void {
    if (this.#textRun === '') return
    const run = this.#textRun
    this.#textRun = ''
    this.#handler.text(run.includes('&') && !this.#isRaw() ? this.#decodeReferences(run) : run)
  }

  /** A script of HTML has no character references; in other elements that have none, no text is read. */
  #isRaw(): boolean {
    return this.#lastStartTag === 'script' && !this.#isXml && !this.#handler.isForeign()
  }

  #decodeReferences(run: string): string {
    return this.#isXml ? decodeXML(run) : decodeHTML(run)
  }
}
