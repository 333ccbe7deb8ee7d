/** The tokens of a page, read as a stream: tags with the relevant attributes, and text. */

import { decodeHTML, decodeHTMLAttribute, decodeXML } from 'entities/decode'
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { elementName } from './element-names.ts'

/** The recorded attributes of a tag. The first one of a name counts. */
export type TagAttributes = { readonly [name in RecordedAttribute]?: string }
const RECORDED_ATTRIBUTE_NAMES = [
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
type RecordedAttribute = (typeof RECORDED_ATTRIBUTE_NAMES)[number]
/** The recorded attributes by their names. Null for other frequent ones. */
const ATTRIBUTES = new Map<string, RecordedAttribute | null>([
  ...RECORDED_ATTRIBUTE_NAMES.map((name) => [name, name] as const),
  ...['class', 'id', 'src', 'alt', 'title', 'width', 'height', 'target', 'd'].map((name) => [name, null] as const),
])

/**
 * Receives the tokens. Names are in lower case. `closed`: a self-closing tag, which closes an element only in XML, SVG
 * and MathML.
 */
export type TokenHandler = {
  open(name: string, attributes: TagAttributes, closed: boolean): void
  close(name: string): void
  text(data: string): void
  /** A doctype without its angle brackets. */
  doctype(text: string): void
  /** Whether the content of tags such as `<title>` is markup now: in SVG and MathML, and in a closed list. */
  isForeign(): boolean
  /** The name of the current element if its content is text up to its end tag. Otherwise null. */
  rawTextElement(): string | null
}

const NEVER_MATCHES = /(?!)/
const NO_TAG_ATTRIBUTES: TagAttributes = Object.freeze({})

/** In UTF-16 units. The rest is cut off. */
const MAX_VALUE_UNITS = 4096
const MAX_NAME_UNITS = 64

/** The longest part of an end tag at the end of a chunk: `</plaintext`. */
const MAX_END_TAG_UNITS = 11

/**
 * Reads a page in chunks, in linear time. The tokenizer of htmlparser2 examines each character once. Its parser is not
 * used, because each tag costs time in proportion to its stack of open elements. Character references are decoded in
 * whole runs of text, so the tokenizer ignores them. Memory is that of the longest token.
 */
export class HtmlTokenizer implements TokenizerCallbacks {
  readonly #tokenizer: Tokenizer
  readonly #handler: TokenHandler
  readonly #isXml: boolean
  /** The text that was read but not emitted, and its offset in the page. */
  #pending = ''
  #offset = 0
  #emitted = 0
  #tag = ''
  /** The last token if it was a start tag. */
  #lastStartTag = ''
  #isInTag = false
  #attributes: { [name in RecordedAttribute]?: string } = NO_TAG_ATTRIBUTES
  #attribute: RecordedAttribute | null = null
  #value = ''
  /** Text that is not emitted yet. */
  #textRun = ''
  /** The end of the skipped text of an element that the tokenizer does not recognize. Its text is not needed. */
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

  /** Turns CR LF and CR into one line feed (HTML, section 13.2.3.5). */
  #withNewlines(text: string): string {
    const whole = this.#endedWithReturn && text.startsWith('\n') ? text.slice(1) : text
    if (text !== '') this.#endedWithReturn = text.endsWith('\r')
    return whole.includes('\r') ? whole.replace(/\r\n?/g, '\n') : whole
  }

  /** Returns what follows the start tag of a skipped element. */
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

  /** Skips the content of an element. Returns its end tag and what follows. */
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

  /** A run may arrive in pieces. */
  ontext(start: number, end: number): void {
    if (this.#isInTag || start < 0) return // the page ends inside a tag
    this.#textRun += this.#take(start, end)
  }

  ontextentity(): void {}

  onopentagname(start: number, end: number): void {
    this.#emitText()
    this.#isInTag = true
    this.#tag = elementName(this.#take(start, end, MAX_NAME_UNITS))
    this.#attributes = NO_TAG_ATTRIBUTES
  }

  onattribname(start: number, end: number): void {
    const text = this.#take(start, end, MAX_NAME_UNITS)
    let name = ATTRIBUTES.get(text)
    if (name === undefined) name = ATTRIBUTES.get(text.toLowerCase())
    this.#attribute = name && this.#attributes[name] === undefined ? name : null
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

  /** The tokenizer detects text content itself, except for noscript and for elements that it read as markup. */
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
    this.#handler.close(elementName(this.#take(start, end, MAX_NAME_UNITS)))
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

  /** An HTML script has no character references. The text of the other elements without them is not read. */
  #isRaw(): boolean {
    return this.#lastStartTag === 'script' && !this.#isXml && !this.#handler.isForeign()
  }

  #decodeReferences(run: string): string {
    return this.#isXml ? decodeXML(run) : decodeHTML(run)
  }
}
