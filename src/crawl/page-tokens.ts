/** The tokens of a page as they stream by: tags with the few attributes that matter, and text. */

import { decodeHTML, decodeHTMLAttribute, decodeXML } from 'entities/decode'
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

/** What is kept of a tag's attributes; the first of a name counts. */
export type Attributes = { readonly [name in Kept]?: string }
const KEPT_NAMES = [
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
type Kept = (typeof KEPT_NAMES)[number]
const KEPT: ReadonlySet<string> = new Set(KEPT_NAMES)

/** Who is told. Names are in lower case; `closed`: a self-closing tag, which ends an element of XML, SVG and MathML alone. */
export type Listener = {
  open(name: string, attributes: Attributes, closed: boolean): void
  close(name: string): void
  text(data: string): void
  /** A doctype, without its brackets. */
  doctype(text: string): void
  /** Whether a tag such as `<title>` that comes now is a tag like others: in SVG and MathML, and in a closed list. */
  isForeign(): boolean
  /** The name of the current element if its content is text up to its end tag, otherwise null. */
  rawName(): string | null
}

const NO_END = /(?!)/
const NONE: Attributes = Object.freeze({})

/** In UTF-16 units; what is longer is cut. */
const VALUE_UNITS = 4096
const NAME_UNITS = 64

/** So many characters of an end tag may stand at the end of a piece: `</plaintext`. */
const TAIL_UNITS = 11

/**
 * Reads a page piece by piece. Work is linear in its length: the tokenizer of htmlparser2 looks at each character once, and
 * its parser, whose stack of open elements costs their number at every tag, is not used. Character references are read in
 * whole runs of text, so that the tokenizer may pass them by. Memory is that of the longest token.
 */
export class TokenReader implements TokenizerCallbacks {
  readonly #tokenizer: Tokenizer
  readonly #listener: Listener
  readonly #xml: boolean
  /** What was read and is not told yet, and where in the page it begins. */
  #pending = ''
  #offset = 0
  #told = 0
  #tag = ''
  /** The tag that was told last, where that is a start tag. */
  #open = ''
  #isInTag = false
  #attributes: { [name in Kept]?: string } = NONE
  #attribute: Kept | null = null
  #value = ''
  /** Text that is not told yet. */
  #run = ''
  /** In an element whose text nobody reads, and of which the tokenizer does not know: the end of what was passed over. */
  #skipped: string | null = null
  #rawEnd = NO_END
  #endedWithReturn = false

  constructor(listener: Listener, xml: boolean) {
    this.#listener = listener
    this.#xml = xml
    this.#tokenizer = new Tokenizer({ xmlMode: xml, decodeEntities: false }, this)
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
    this.#pending = this.#pending.slice(this.#told - this.#offset) + text
    this.#offset = this.#told
    this.#tokenizer.write(text)
    if (this.#skipped === null) return ''
    const rest = this.#pending.slice(this.#told + 1 - this.#offset)
    this.#pending = ''
    this.#offset = 0
    this.#told = 0
    this.#tokenizer.reset()
    return rest
  }

  /** Passes over the content of an element; returns its end tag and what follows. */
  #skip(text: string): string {
    const end = text.search(this.#rawEnd)
    this.#skipped = end < 0 ? text.slice(-TAIL_UNITS) : null
    return end < 0 ? '' : text.slice(end)
  }

  end(): void {
    this.#tokenizer.resume()
    this.#tokenizer.end()
  }

  #take(start: number, end: number, most = Number.POSITIVE_INFINITY): string {
    this.#told = end
    return this.#pending.slice(start - this.#offset, Math.min(end, start + most) - this.#offset)
  }

  isInForeignContext(): boolean {
    return this.#listener.isForeign()
  }

  /** A run may come in pieces. */
  ontext(start: number, end: number): void {
    if (this.#isInTag || start < 0) return // inside of a tag that the page ends in
    this.#run += this.#take(start, end)
  }

  ontextentity(): void {}

  onopentagname(start: number, end: number): void {
    this.#tellRun()
    this.#isInTag = true
    this.#tag = this.#take(start, end, NAME_UNITS).toLowerCase()
    this.#attributes = NONE
  }

  onattribname(start: number, end: number): void {
    const name = this.#take(start, end, NAME_UNITS).toLowerCase() as Kept
    this.#attribute = KEPT.has(name) && this.#attributes[name] === undefined ? name : null
    this.#value = ''
  }

  onattribdata(start: number, end: number): void {
    const room = this.#attribute === null ? 0 : Math.max(0, VALUE_UNITS - this.#value.length)
    this.#value += this.#take(start, end, room)
  }

  onattribentity(): void {}

  onattribend(_quote: unknown, end: number): void {
    this.#told = Math.max(this.#told, end)
    if (this.#attribute === null) return
    if (this.#attributes === NONE) this.#attributes = {}
    this.#attributes[this.#attribute] = this.#xml ? decodeXML(this.#value) : decodeHTMLAttribute(this.#value)
    this.#attribute = null
  }

  onopentagend(end: number): void {
    this.#isInTag = false
    this.#told = end
    this.#open = this.#tag
    this.#tellOpen(false)
  }

  onselfclosingtag(end: number): void {
    this.#isInTag = false
    this.#told = end
    this.#tellOpen(true)
  }

  /** The tokenizer knows what content is text, but for noscript, and for what it took for a tag like others. */
  #tellOpen(closed: boolean): void {
    const isKnown = this.#xml || !this.#listener.isForeign()
    this.#listener.open(this.#tag, this.#attributes, closed)
    if (isKnown && this.#tag !== 'noscript') return
    const raw = this.#listener.rawName()
    if (raw === null) return
    this.#skipped = ''
    this.#rawEnd = raw === 'plaintext' ? NO_END : new RegExp(`</${raw}[\\t\\n\\f />]`, 'i')
    this.#tokenizer.pause()
  }

  onclosetag(start: number, end: number): void {
    this.#tellRun()
    this.#open = ''
    this.#listener.close(this.#take(start, end, NAME_UNITS).toLowerCase())
  }

  oncdata(start: number, end: number, offset: number): void {
    this.#tellRun()
    const data = this.#take(start, end - offset)
    if (this.#xml || this.#listener.isForeign()) this.#listener.text(data)
    this.#told = end
  }

  oncomment(_start: number, end: number): void {
    this.#tellRun()
    this.#told = end
  }

  ondeclaration(start: number, end: number): void {
    this.#tellRun()
    this.#listener.doctype(this.#take(start, end, VALUE_UNITS))
  }

  onprocessinginstruction(_start: number, end: number): void {
    this.#tellRun()
    this.#told = end
  }

  onend(): void {
    this.#tellRun()
    this.#told = this.#offset + this.#pending.length
  }

  #tellRun(): void {
    if (this.#run === '') return
    const run = this.#run
    this.#run = ''
    this.#listener.text(run.includes('&') && !this.#isRaw() ? this.#decode(run) : run)
  }

  /** A script of HTML has no character references; in other elements that have none, no text is read. */
  #isRaw(): boolean {
    return this.#open === 'script' && !this.#xml && !this.#listener.isForeign()
  }

  #decode(run: string): string {
    return this.#xml ? decodeXML(run) : decodeHTML(run)
  }
}
