/** Extracts what a page refers to, element by element: links in page order, its base, and a meta refresh. */

import type { StartPage, StartPageLink } from '../probe-result.ts'
import { jsonLdLinks } from './json-ld.ts'
import type { ElementHandler, TagAttributes } from './markup-reader.ts'
import { parseMetaRefresh } from './meta-refresh.ts'

const MAX_LINKS = 2000
const MAX_JSON_LD_UNITS = 256 * 1024
const MAX_TARGET_UNITS = 2048
const MAX_NAME_UNITS = 128

/** The names of meta and the rel of link that can contain a URL or account of the site or its author. */
const META_NAMES = new Set(['twitter:site', 'og:see_also', 'article:publisher'])
const LINK_REL = /(?:^|\s)(?:me|author|publisher)(?:\s|$)/i

export class PageExtractor implements ElementHandler {
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
