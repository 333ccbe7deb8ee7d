/** What a page holds, gathered element by element: links in page order, what a reader sees, and a meta refresh. */

import type { TreeListener } from './page-builder.ts'
import { dataLinks } from './page-data.ts'
import type { Shown } from './page-elements.ts'
import { words } from './page-names.ts'
import { readRefresh } from './page-refresh.ts'
import type { Attributes } from './page-tokens.ts'
import type { Page, PageLink } from './visit.ts'

const MOST_LINKS = 2000
const MOST_DATA_UNITS = 256 * 1024
const TARGET_UNITS = 2048
const NAME_UNITS = 128

/** Text runs on through these; every other element breaks the line. */
const INLINE = words(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark meter nobr output picture q rb ruby s samp small source span strike strong sub sup time tt u var wbr',
)

/** A browser with scripts does not show them, nor follow what stands in them. */
const INERT = words('noscript template noembed noframes iframe object')

/**
 * No part of what a reader sees: the head with its title, code, drawings, media, and the choices of a closed list.
 * Beside them is hidden what its own tag hides, by `hidden` or `display: none`; what style sheets hide is not known here.
 * `aria-hidden` hides from hearing, not from sight. A whole page that is hidden is one that its scripts will show.
 */
const UNSEEN = words(
  'head title script style svg math canvas audio video select datalist textarea applet embed rp xmp plaintext',
)
const DISPLAY_NONE = /(?:^|[;\s])(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)/i

/** The names of meta, and the rel of link, that carry an address or account of the site or of who made it. */
const META = words('twitter:site og:see_also article:publisher')
const LINK = /(?:^|\s)(?:me|author|publisher)(?:\s|$)/i

export class PageGatherer implements TreeListener {
  readonly #url: string
  readonly #links: PageLink[] = []
  readonly #known = new Set<string>()
  /** How many of the links stand before the body. */
  #linksOfHead = 0
  #base: string | null = null
  /** What the first meta refresh says; undefined before one came. */
  #refresh: string | null | undefined
  /** The JSON-LD that is being read, in pieces. */
  #data: string[] | null = null
  #dataUnits = 0

  constructor(url: string) {
    this.#url = url
  }

  shownBy(name: string, attributes: Attributes): Shown {
    return shownAs(name, attributes)
  }

  isInline(name: string): boolean {
    return INLINE.has(name)
  }

  began(name: string, attributes: Attributes): void {
    if (name === 'body') this.#linksOfHead = this.#links.length
    this.#look(name, attributes)
    if (name === 'script' && isData(attributes.type)) this.#data = []
  }

  ended(name: string): void {
    if (name === 'script') this.#endData()
  }

  script(data: string): void {
    if (this.#data !== null) this.#addData(data)
  }

  bodyLeft(): void {
    this.#links.length = this.#linksOfHead
  }

  /** `text`: the lines that a reader sees. */
  end(text: readonly string[]): { page: Page; refresh: string | null } {
    this.#endData()
    const page = { base: this.#base ?? this.#url, links: this.#links, text }
    return { page, refresh: this.#target() }
  }

  #look(name: string, given: Attributes): void {
    const href = given.href ?? given['xlink:href']
    if (name === 'base') this.#base ??= href === undefined ? null : absolute(href, this.#url)
    else if (name === 'a' || name === 'area') this.#addLink('anchor', given.rel, href)
    else if (name === 'link' && LINK.test(given.rel ?? '')) this.#addLink('link', given.rel, href)
    else if (name === 'meta') this.#lookAtMeta(given)
  }

  #lookAtMeta({ name, property, content = '', 'http-equiv': pragma }: Attributes): void {
    const called = (name ?? property ?? '').trim().toLowerCase()
    if (META.has(called)) this.#addLink('meta', called, content)
    if (pragma?.trim().toLowerCase() !== 'refresh' || this.#refresh !== undefined) return
    const target = readRefresh(content)
    if (target !== null) this.#refresh = target === 'late' ? null : target
  }

  /** Repeats are left out, so that a menu printed twice does not take the place of the footer. */
  #addLink(from: PageLink['from'], name = '', target = ''): void {
    const bare = target.trim()
    if (bare === '' || bare.startsWith('#') || bare.length > TARGET_UNITS || this.#links.length >= MOST_LINKS) return
    const link = { from, name: name.trim().toLowerCase().slice(0, NAME_UNITS), target: bare }
    const key = `${from} ${link.name} ${bare}`
    if (!this.#known.has(key)) this.#links.push(link)
    this.#known.add(key)
  }

  #addData(data: string): void {
    this.#dataUnits += data.length
    if (this.#dataUnits <= MOST_DATA_UNITS) this.#data?.push(data)
  }

  /** A block that was too long is cut off and so no JSON. */
  #endData(): void {
    if (this.#data === null) return
    for (const { name, target } of dataLinks(this.#data.join(''))) this.#addLink('data', name, target)
    this.#data = null
    this.#dataUnits = 0
  }

  /** Where the refresh leads; a page that only loads itself anew leads nowhere. */
  #target(): string | null {
    const base = this.#base ?? this.#url
    const target = this.#refresh ? absolute(this.#refresh, base) : null
    return target === null || bare(target) === bare(this.#url) ? null : target
  }
}

function shownAs(name: string, { hidden, style = '' }: Attributes): Shown {
  if (INERT.has(name)) return 'inert'
  if (UNSEEN.has(name)) return 'hidden'
  if (name === 'html' || name === 'body') return 'seen'
  return hidden !== undefined || DISPLAY_NONE.test(style) ? 'hidden' : 'seen'
}

function isData(type = ''): boolean {
  return /^\s*application\/ld\+json\s*(;|$)/i.test(type)
}

/** An absolute address of the web, or null. */
function absolute(target: string, base: string): string | null {
  const url = URL.parse(target, base)
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null
}

function bare(url: string): string {
  return (URL.parse(url)?.href ?? url).replace(/#.*/s, '')
}
