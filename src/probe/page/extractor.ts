/** Extracts the content of a page element by element: links in page order, visible text, and a meta refresh. */

import type { StartPage, StartPageLink } from '../probe-result.ts'
import { jsonLdLinks } from './json-ld.ts'
import { parseMetaRefresh } from './meta-refresh.ts'
import { nameSet } from './tree/element-names.ts'
import type { Visibility } from './tree/open-elements.ts'
import type { TagAttributes } from './tree/tokenizer.ts'
import type { TreeObserver } from './tree/tree-builder.ts'

const MAX_LINKS = 2000
const MAX_JSON_LD_UNITS = 256 * 1024
const MAX_TARGET_UNITS = 2048
const MAX_NAME_UNITS = 128

/** These elements do not interrupt a line of text. Every other element breaks it. */
const INLINE_ELEMENTS = nameSet(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark meter nobr output ' +
    'picture q rb ruby s samp small source span strike strong sub sup time tt u var wbr',
)

/** A browser with scripts does not show these elements, and ignores the links inside. */
const INERT_ELEMENTS = nameSet('noscript template noembed noframes iframe object')

/**
 * Elements that are never visible: the head with its title, code, drawings, media, and the options of a closed list. In
 * addition, `hidden` and `display: none` in a tag hide its element. The effect of style sheets is unknown.
 * `aria-hidden` hides from screen readers, not from view. If the whole page is hidden, its scripts will show it, so it
 * counts as visible.
 */
const HIDDEN_ELEMENTS = nameSet(
  'head title script style svg math canvas audio video select datalist textarea applet embed rp xmp plaintext',
)
const HIDING_STYLE = /(?:^|[;\s])(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)/i

/** The names of meta and the rel of link that can contain a URL or account of the site or its author. */
const META_NAMES = nameSet('twitter:site og:see_also article:publisher')
const LINK_REL = /(?:^|\s)(?:me|author|publisher)(?:\s|$)/i

export class PageExtractor implements TreeObserver {
  readonly #url: string
  readonly #links: StartPageLink[] = []
  readonly #seenLinks = new Set<string>()
  /** The number of links before the body. */
  #headLinkCount = 0
  #base: string | null = null
  /** The target of the first meta refresh. Undefined if there was none. */
  #refresh: string | null | undefined
  /** The pieces of the current JSON-LD block. */
  #jsonLd: string[] | null = null
  #jsonLdUnits = 0

  constructor(url: string) {
    this.#url = url
  }

  visibilityOf(name: string, attributes: TagAttributes): Visibility {
    return elementVisibility(name, attributes)
  }

  isInline(name: string): boolean {
    return INLINE_ELEMENTS.has(name)
  }

  onElementStart(name: string, attributes: TagAttributes): void {
    if (name === 'body') this.#headLinkCount = this.#links.length
    this.#extractFrom(name, attributes)
    if (name === 'script' && isJsonLd(attributes.type)) this.#jsonLd = []
  }

  onElementEnd(name: string): void {
    if (name === 'script') this.#endJsonLd()
  }

  onScriptText(data: string): void {
    if (this.#jsonLd !== null) this.#addJsonLd(data)
  }

  onBodyDiscarded(): void {
    this.#links.length = this.#headLinkCount
  }

  /** `text`: the visible lines. */
  end(text: readonly string[]): { page: StartPage; refresh: string | null } {
    this.#endJsonLd()
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

  /** A block over the limit is truncated, so it is not valid JSON. */
  #endJsonLd(): void {
    if (this.#jsonLd === null) return
    for (const { name, target } of jsonLdLinks(this.#jsonLd.join(''))) this.#addLink('data', name, target)
    this.#jsonLd = null
    this.#jsonLdUnits = 0
  }

  /** The target of the refresh. Returns null if the page only reloads itself. */
  #refreshTarget(): string | null {
    const base = this.#base ?? this.#url
    const target = this.#refresh ? absoluteWebUrl(this.#refresh, base) : null
    return target === null || withoutFragment(target) === withoutFragment(this.#url) ? null : target
  }
}

function elementVisibility(name: string, { hidden, style = '' }: TagAttributes): Visibility {
  if (INERT_ELEMENTS.has(name)) return 'inert'
  if (HIDDEN_ELEMENTS.has(name)) return 'hidden'
  if (name === 'html' || name === 'body') return 'visible'
  return hidden !== undefined || (style !== '' && HIDING_STYLE.test(style)) ? 'hidden' : 'visible'
}

function isJsonLd(type = ''): boolean {
  return /^\s*application\/ld\+json\s*(;|$)/i.test(type)
}

/** Resolves an absolute http or https URL. Returns null for any other. */
function absoluteWebUrl(target: string, base: string): string | null {
  const url = URL.parse(target, base)
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null
}

function withoutFragment(url: string): string {
  return (URL.parse(url)?.href ?? url).replace(/#.*/s, '')
}
