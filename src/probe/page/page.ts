/**
 * Reads the start page as a stream of bytes: its charset, its links (also those in JSON-LD), its text, and the target
 * of a meta refresh.
 */

import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import sniff from 'html-encoding-sniffer'
import type { StartPage, StartPageLink } from '../probe-result.ts'
import { type ElementHandler, MarkupReader, type TagAttributes } from './markup-reader.ts'

/** The number of bytes that are examined before the first character is decoded (HTML, section 13.2.3.2). */
const MAX_SNIFFED_BYTES = 1024

/** A page with a later refresh counts as a page, not as a redirect. */
const MAX_REFRESH_SECONDS = 5

/** The leading number. The pattern cannot backtrack. */
const REFRESH_TIME = /^[\t\n\f\r ]*(\d*)[\d.]*/
const REFRESH_SEPARATOR = /^(?:[\t\n\f\r ]*[;,][\t\n\f\r ]*|[\t\n\f\r ]+|$)/
const REFRESH_TARGET = /^(?:url[\t\n\f\r ]*=[\t\n\f\r ]*)?(?:"([^"]*)|'([^']*)|(.*))/is

const LINK_KEYS = new Map([
  ['sameAs', 'sameas'],
  ['url', 'url'],
])
const MAX_JSON_VALUES = 20_000

const MAX_LINKS = 2000
const MAX_JSON_LD_UNITS = 256 * 1024
const MAX_TARGET_UNITS = 2048
const MAX_NAME_UNITS = 128

/** The names of meta and the rel of link that can contain a URL or account of the site or its author. */
const META_NAMES = new Set(['twitter:site', 'og:see_also', 'article:publisher'])
const LINK_REL = /(?:^|\s)(?:me|author|publisher)(?:\s|$)/i

/** Extracts what a page refers to, element by element: links in page order, its base, and a meta refresh. */
class PageExtractor implements ElementHandler {
  readonly #url: string
  readonly #links: StartPageLink[] = []
  readonly #seenLinks = new Set<string>()
  #base: string | null = null
  /** The target of the first meta refresh. Undefined if there was none. */
  #refresh: string | null | undefined
  /** The pieces of the current JSON-LD block. */
  #jsonLd: string[] | null = null
  #jsonLdUnits = 0

  constructor(url: string) {
    this.#url = url
  }

  onElementStart(name: string, attributes: TagAttributes): void {
    this.#extractFrom(name, attributes)
    if (name === 'script' && isJsonLd(attributes.type)) this.#jsonLd = []
  }

  onScriptText(data: string): void {
    if (this.#jsonLd !== null) this.#addJsonLd(data)
  }

  /** A block over the limit is truncated, so it is not valid JSON. */
  onScriptEnd(): void {
    if (this.#jsonLd === null) return
    for (const { name, target } of jsonLdLinks(this.#jsonLd.join(''))) this.#addLink('data', name, target)
    this.#jsonLd = null
    this.#jsonLdUnits = 0
  }

  /** `text`: the visible lines. */
  end(text: readonly string[]): { page: StartPage; refresh: string | null } {
    const page = { base: this.#base ?? this.#url, links: this.#links, text }
    return { page, refresh: this.#refreshTarget() }
  }

  #extractFrom(name: string, attributes: TagAttributes): void {
    const href = attributes.href ?? attributes['xlink:href']
    if (name === 'base') this.#base ??= href === undefined ? null : absoluteWebUrl(href, this.#url)
    else if (name === 'a' || name === 'area') this.#addLink('anchor', attributes.rel, href)
    else if (name === 'link' && LINK_REL.test(attributes.rel ?? '')) this.#addLink('link', attributes.rel, href)
    else if (name === 'meta') this.#extractMeta(attributes)
  }

  #extractMeta({ name, property, content = '', 'http-equiv': pragma }: TagAttributes): void {
    const metaName = (name ?? property ?? '').trim().toLowerCase()
    if (META_NAMES.has(metaName)) this.#addLink('meta', metaName, content)
    if (pragma?.trim().toLowerCase() !== 'refresh' || this.#refresh !== undefined) return
    const target = parseMetaRefresh(content)
    if (target !== null) this.#refresh = target === 'too_late' ? null : target
  }

  /** Adds a link without repeats, so that a repeated menu does not displace the footer. */
  #addLink(from: StartPageLink['from'], name = '', target = ''): void {
    const trimmed = target.trim()
    if (
      trimmed === '' ||
      trimmed.startsWith('#') ||
      trimmed.length > MAX_TARGET_UNITS ||
      this.#links.length >= MAX_LINKS
    )
      return
    const link = { from, name: name.trim().toLowerCase().slice(0, MAX_NAME_UNITS), target: trimmed }
    const key = `${from} ${link.name} ${trimmed}`
    if (!this.#seenLinks.has(key)) this.#links.push(link)
    this.#seenLinks.add(key)
  }

  #addJsonLd(data: string): void {
    this.#jsonLdUnits += data.length
    if (this.#jsonLdUnits <= MAX_JSON_LD_UNITS) this.#jsonLd?.push(data)
  }

  /** The target of the refresh. Returns null if the page only reloads itself. */
  #refreshTarget(): string | null {
    const base = this.#base ?? this.#url
    const target = this.#refresh ? absoluteWebUrl(this.#refresh, base) : null
    return target === null || withoutFragment(target) === withoutFragment(this.#url) ? null : target
  }
}

/** The rest of a page is ignored. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024

/**
 * A page and the absolute http or https target of its meta refresh of at most 5 seconds. Null if there is none or it is
 * the page itself.
 */
export type ParsedPage = { page: StartPage; refresh: string | null }

/** Receives the decompressed bytes of a page in chunks. Never throws. */
type PageReader = { write(chunk: Uint8Array): void; end(): ParsedPage }

/** `url`: the absolute URL of the page. `contentType`: the field of the response. */
export function createPageReader(options: { contentType: string | null; url: string }): PageReader {
  const { contentType, url } = options
  const extractor = new PageExtractor(url)
  const markup = new MarkupReader(extractor, isXhtml(contentType))
  const first: Uint8Array[] = []
  let decoder: TextDecoder | null = null
  let bytesRead = 0

  const startDecoding = (chunks: Uint8Array[]): void => {
    const start = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    decoder = charsetDecoderFor(start, contentType)
    markup.write(decoder.decode(start, { stream: true }))
  }

  return {
    write(chunk) {
      const accepted = chunk.subarray(0, MAX_PAGE_BYTES - bytesRead)
      bytesRead += accepted.length
      if (decoder !== null) markup.write(decoder.decode(accepted, { stream: true }))
      else if (bytesRead >= MAX_SNIFFED_BYTES) startDecoding([...first, accepted])
      else first.push(Uint8Array.from(accepted))
    },
    end() {
      if (decoder === null) startDecoding(first)
      markup.write(decoder?.decode() ?? '')
      return extractor.end(markup.end())
    },
  }
}

function isJsonLd(type = ''): boolean {
  return /^\s*application\/ld\+json\s*(;|$)/i.test(type)
}

/** Resolves an absolute http or https URL. Returns null for any other, and for one that is too long. */
function absoluteWebUrl(target: string, base: string): string | null {
  const url = target.length > MAX_TARGET_UNITS ? null : URL.parse(target, base)
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null
}

function withoutFragment(url: string): string {
  return (URL.parse(url)?.href ?? url).replace(/#.*/s, '')
}

/**
 * The strings at `sameAs` and `url` with their key in lower case, in the order of the block. Returns none for invalid
 * JSON.
 */
function jsonLdLinks(block: string): { name: string; target: string }[] {
  const links: { name: string; target: string }[] = []
  const pending: { name: string; value: unknown }[] = [{ name: '', value: parseJsonLd(block) }]
  for (let count = 0; count < MAX_JSON_VALUES; count++) {
    const next = pending.pop()
    if (next === undefined) break
    const { name, value } = next
    if (typeof value === 'string') {
      if (name !== '') links.push({ name, target: value })
    } else if (Array.isArray(value)) {
      pending.push(
        ...value
          .slice(0, MAX_JSON_VALUES)
          .map((each: unknown) => ({ name, value: each }))
          .reverse(),
      )
    } else if (typeof value === 'object' && value !== null) {
      const entries = Object.entries(value).slice(0, MAX_JSON_VALUES)
      pending.push(...entries.map(([key, each]) => ({ name: LINK_KEYS.get(key) ?? '', value: each })).reverse())
    }
  }
  return links
}

/** Accepts a surrounding HTML comment or CDATA marker, as JSON-LD readers of browsers do. */
function parseJsonLd(block: string): unknown {
  const bare = block.replace(/^\s*(?:<!--|\/\/<!\[CDATA\[|<!\[CDATA\[)/, '').replace(/(?:-->|\/\/\]\]>|\]\]>)\s*$/, '')
  try {
    return JSON.parse(bare)
  } catch {
    return null
  }
}

/**
 * Parses a `content`: seconds, perhaps a separator, `url=` and a quote (HTML, section 4.2.5.3). Returns the target, ''
 * for the page itself, `too_late` for a long delay, or null if it is not a refresh.
 */
function parseMetaRefresh(content: string): string | 'too_late' | null {
  const [time = '', seconds = ''] = REFRESH_TIME.exec(content) ?? []
  const rest = content.slice(time.length)
  const between = REFRESH_SEPARATOR.exec(rest)
  if (time.trim() === '' || between === null) return null
  if (Number(seconds) > MAX_REFRESH_SECONDS) return 'too_late'
  const [, double, single, bare] = REFRESH_TARGET.exec(rest.slice(between[0].length)) ?? []
  return (double ?? single ?? bare ?? '').trim()
}

/** Returns a decoder that never throws. A page whose encoding must not be decoded (`replacement`) counts as UTF-8. */
export function charsetDecoderFor(start: Uint8Array, contentType: string | null): TextDecoder {
  const label = charsetParameter(contentType)
  const transportEncoding = label === null ? {} : { transportLayerEncodingLabel: label }
  const options = { xml: isXhtml(contentType), defaultEncoding: guessCharset(start), ...transportEncoding }
  try {
    return new TextDecoder(sniff(start.subarray(0, MAX_SNIFFED_BYTES), options))
  } catch {
    return new TextDecoder()
  }
}

function isXhtml(contentType: string | null): boolean {
  return /^\s*application\/xhtml\+xml\s*(;|$)/i.test(contentType ?? '')
}

/** The charset parameter of a Content-Type (RFC 9110, section 8.3.1), quoted or not. Returns null if there is none. */
function charsetParameter(contentType: string | null): string | null {
  const found = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;]+))/i.exec((contentType ?? '').slice(0, 1024))
  return found === null ? null : (found[1] ?? found[2] ?? found[3] ?? null)
}

/**
 * Guesses UTF-8 if the bytes are valid UTF-8 so far, which includes ASCII. Otherwise the encoding of old western pages.
 */
function guessCharset(start: Uint8Array): string {
  if (isUtf8(start)) return 'UTF-8'
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true })
    return 'UTF-8'
  } catch {
    return 'windows-1252'
  }
}
