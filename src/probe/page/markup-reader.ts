/** Reads the markup of a page as a stream: passes its elements on, and collects the lines of its visible text. */

import { decodeHTML, decodeHTMLAttribute, decodeXML } from 'entities/decode'
import { Parser, type ParserOptions } from 'htmlparser2'

/** The recorded attributes of a tag, decoded. The first one of a name counts. */
export type TagAttributes = { readonly [name in RecordedAttribute]?: string }
type RecordedAttribute = (typeof RECORDED_ATTRIBUTES)[number]
const RECORDED_ATTRIBUTES = [
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

/** Receives the elements of a page that are not inert. Names are in lower case. */
export type ElementHandler = {
  onElementStart(name: string, attributes: TagAttributes): void
  onScriptText(data: string): void
  onScriptEnd(): void
}

/** Deeper elements count as empty. Browsers also limit the depth; the deepest of our real pages has 51. */
const MAX_DEPTH = 512
const MAX_TEXT_UNITS = 256 * 1024

/** The visibility of text. `inert`: not part of the page, so that links in it do not count either. */
type Visibility = 'visible' | 'hidden' | 'inert'

const RECORDED = new Map<string, RecordedAttribute>(RECORDED_ATTRIBUTES.map((name) => [name, name]))
const NO_ATTRIBUTES: TagAttributes = Object.freeze({})
const names = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** These elements do not interrupt a line of text. Every other element breaks it. */
const INLINE_ELEMENTS = names(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark meter nobr output ' +
    'picture q rb ruby s samp small source span strike strong sub sup time tt u var wbr',
)

/** A browser with scripts does not show these elements, and ignores the links inside. */
const INERT_ELEMENTS = names('noscript template noembed noframes iframe object')

/**
 * Elements that are never visible: the head with its title, code, drawings, media, and the options of a closed list. In
 * addition, `hidden` and `display: none` in a tag hide its element. The effect of style sheets is unknown.
 * `aria-hidden` hides from screen readers, not from view. If the whole page is hidden, its scripts will show it, so it
 * counts as visible.
 */
const HIDDEN_ELEMENTS = names(
  'head title script style svg math canvas audio video select datalist textarea applet embed rp xmp plaintext frameset',
)
const HIDING_STYLE = /(?:^|[;\s])(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)/i
/** The elements of a head. Any other one ends it, also without its end tag. */
const HEAD_ELEMENTS = names('base basefont bgsound link meta title style script noframes noscript template')

/** A parser whose work for a tag is bounded: within MAX_DEPTH open elements, a start tag opens an empty element. */
class BoundedParser extends Parser {
  readonly #reader: MarkupReader
  #isFull = false

  constructor(reader: MarkupReader, options: ParserOptions) {
    super(reader, options)
    this.#reader = reader
  }

  override onopentagname(start: number, end: number): void {
    this.#isFull = this.#reader.depth >= MAX_DEPTH
    super.onopentagname(start, end)
  }

  override onopentagend(end: number): void {
    this.#reader.onTagEnd()
    super.onopentagend(end)
  }

  override onselfclosingtag(end: number): void {
    this.#reader.onTagEnd()
    super.onselfclosingtag(end)
  }

  /** The tokenizer passes the rest of a page that ends inside a tag as text. */
  override ontext(start: number, end: number): void {
    if (!this.#reader.isInTag && start >= 0) super.ontext(start, end)
  }

  override onclosetag(start: number, end: number): void {
    this.#isFull = false
    super.onclosetag(start, end)
  }

  protected override isVoidElement(name: string): boolean {
    return this.#isFull || super.isVoidElement(name)
  }
}

/**
 * Character references are decoded in whole runs of text, so that the tokenizer skips from tag to tag.
 */
export class MarkupReader {
  readonly #elements: ElementHandler
  readonly #parser: BoundedParser
  readonly #isXml: boolean
  readonly #open: { name: string; visibility: Visibility }[] = []
  readonly #lines: string[] = []
  #line = ''
  #textUnitsLeft = MAX_TEXT_UNITS
  /** The text since the last tag, which arrives in pieces. */
  #run = ''
  /** The start tag that is being read. */
  #tag: string | null = null
  #attributes: { [name in RecordedAttribute]?: string } = NO_ATTRIBUTES

  constructor(elements: ElementHandler, isXml: boolean) {
    this.#elements = elements
    this.#isXml = isXml
    this.#parser = new BoundedParser(this, { xmlMode: isXml, decodeEntities: false })
  }

  write(text: string): void {
    this.#parser.write(text)
  }

  /** Ends the page. Returns the nonempty visible lines without leading white space. */
  end(): string[] {
    this.#tag = null
    this.#parser.end()
    this.#endRun()
    this.#endLine()
    return this.#lines
  }

  get depth(): number {
    return this.#open.length
  }

  get isInTag(): boolean {
    return this.#tag !== null
  }

  onopentagname(name: string): void {
    this.#endRun()
    this.#tag = name
    this.#attributes = NO_ATTRIBUTES
  }

  onattribute(text: string, value: string): void {
    const name = RECORDED.get(text)
    if (name === undefined || this.#attributes[name] !== undefined) return
    if (this.#attributes === NO_ATTRIBUTES) this.#attributes = {}
    this.#attributes[name] = value.includes('&') ? this.#decode(value, decodeHTMLAttribute) : value
  }

  /** An element starts: its tag is read. */
  onTagEnd(): void {
    if (this.#tag === null) return
    const name = this.#tag.toLowerCase()
    this.#tag = null
    if (!HEAD_ELEMENTS.has(name)) this.#endHead()
    const outside = this.#visibility
    if (outside !== 'inert') this.#elements.onElementStart(name, this.#attributes)
    if (!INLINE_ELEMENTS.has(name)) this.#endLine()
    const own = visibilityOf(name, this.#attributes)
    this.#open.push({ name, visibility: outside === 'visible' || own === 'inert' ? own : outside })
  }

  onclosetag(): void {
    this.onTagEnd() // the parser opens a paragraph before an end tag without one
    this.#endRun()
    const name = this.#open.pop()?.name ?? '' // none if the page ends inside a tag
    if (!INLINE_ELEMENTS.has(name)) this.#endLine()
    if (name === 'script') this.#elements.onScriptEnd()
  }

  ontext(data: string): void {
    this.#run += data
  }

  oncomment(): void {
    this.#endRun()
  }

  get #visibility(): Visibility {
    return this.#open.at(-1)?.visibility ?? 'visible'
  }

  #endRun(): void {
    const run = this.#run
    if (run === '') return
    this.#run = ''
    const isScript = this.#open.at(-1)?.name === 'script'
    if (isScript) this.#elements.onScriptText(this.#isXml ? decodeXML(run) : run)
    else if (run.trim() !== '') this.#endHead()
    if (this.#visibility === 'visible') this.#addText(run.includes('&') ? this.#decode(run, decodeHTML) : run)
  }

  #decode(text: string, decodeHtml: (text: string) => string): string {
    return this.#isXml ? decodeXML(text) : decodeHtml(text)
  }

  /** What is directly in a head and does not belong there is in the body, and so is the rest. */
  #endHead(): void {
    const current = this.#open.at(-1)
    if (current?.name === 'head') current.visibility = 'visible'
  }

  #addText(data: string): void {
    const text = (this.#line === '' ? data.trimStart() : data).slice(0, this.#textUnitsLeft)
    this.#textUnitsLeft -= text.length
    this.#line += text
  }

  #endLine(): void {
    if (this.#line !== '') this.#lines.push(this.#line)
    this.#line = ''
  }
}

function visibilityOf(name: string, { hidden, style = '' }: TagAttributes): Visibility {
  if (INERT_ELEMENTS.has(name)) return 'inert'
  if (HIDDEN_ELEMENTS.has(name)) return 'hidden'
  if (name === 'html' || name === 'body') return 'visible'
  return hidden !== undefined || HIDING_STYLE.test(style) ? 'hidden' : 'visible'
}
