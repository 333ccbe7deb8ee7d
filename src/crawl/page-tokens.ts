/** The tokens of a page as they stream by: tags with the few attributes that matter, and text. */

import { decodeHTML, decodeHTMLAttribute, decodeXML } from 'entities/decode'
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

/** What is kept of a tag's attributes; the first of a name counts. */
export type Attributes = { readonly [name in Kept]?: string }
const KEPT = [
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
] as const
type Kept = (typeof KEPT)[number]

/** Who is told. Names are in lower case; `closed`: a self-closing tag where such tags exist. */
export type Listener = {
  open(name: string, attributes: Attributes, closed: boolean): void
  close(name: string): void
  text(data: string): void
  /** Whether SVG or MathML is being read, where `<title/>` is a tag like others. */
  isForeign(): boolean
}

const NONE: Attributes = Object.freeze({})

/** In UTF-16 units; what is longer is cut. */
const VALUE_UNITS = 4096
const NAME_UNITS = 64

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
  #attributes: { [name in Kept]?: string } = NONE
  #attribute: Kept | null = null
  #value = ''
  /** Text that is not told yet, and where in the page it ends. */
  #run = ''
  #runEnd = -1

  constructor(listener: Listener, xml: boolean) {
    this.#listener = listener
    this.#xml = xml
    this.#tokenizer = new Tokenizer({ xmlMode: xml, decodeEntities: false }, this)
  }

  write(text: string): void {
    this.#pending = this.#pending.slice(this.#told - this.#offset) + text
    this.#offset = this.#told
    this.#tokenizer.write(text)
  }

  end(): void {
    this.#tokenizer.end()
  }

  #take(start: number, end: number, most = Number.POSITIVE_INFINITY): string {
    this.#told = end
    return this.#pending.slice(start - this.#offset, Math.min(end, start + most) - this.#offset)
  }

  isInForeignContext(): boolean {
    return this.#listener.isForeign()
  }

  /** A run may come in pieces, which follow each other without a gap. */
  ontext(start: number, end: number): void {
    if (start !== this.#runEnd) this.#tellRun()
    this.#run += this.#take(start, end)
    this.#runEnd = end
  }

  ontextentity(): void {}

  onopentagname(start: number, end: number): void {
    this.#tellRun()
    this.#tag = this.#take(start, end, NAME_UNITS).toLowerCase()
    this.#attributes = NONE
  }

  onattribname(start: number, end: number): void {
    const name = this.#take(start, end, NAME_UNITS).toLowerCase() as Kept
    this.#attribute = KEPT.includes(name) && this.#attributes[name] === undefined ? name : null
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
    this.#told = end
    this.#open = this.#tag
    this.#listener.open(this.#tag, this.#attributes, false)
  }

  onselfclosingtag(end: number): void {
    this.#told = end
    this.#listener.open(this.#tag, this.#attributes, this.#xml || this.#listener.isForeign())
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
    this.#told = end
  }

  ondeclaration(_start: number, end: number): void {
    this.#told = end
  }

  onprocessinginstruction(_start: number, end: number): void {
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
