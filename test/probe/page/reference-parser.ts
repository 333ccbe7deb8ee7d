/** The words and links of a page in the tree of parse5, as the reference for the reader. */

import { type DefaultTreeAdapterMap, parse } from 'parse5'
import { createPageReader } from '../../../src/probe/page/page.ts'

type Node = DefaultTreeAdapterMap['childNode'] | DefaultTreeAdapterMap['document']
type Element = DefaultTreeAdapterMap['element']

const names = (text: string) => new Set(text.split(' '))
const INLINE = names(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark meter nobr output picture q rb ruby s samp small source span strike strong sub sup time tt u var wbr',
)
const INERT = names('noscript template noembed noframes iframe object')
const UNSEEN = names(
  'head title script style svg math canvas audio video select datalist textarea applet embed rp xmp plaintext',
)
const HIDING = /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)/i

export type Read = { words: string[]; links: string[] }

/** The words in tree order, and the targets of `a` and `area`, each once. */
export function oracle(html: string): Read {
  const links = new Set<string>()
  let text = ''
  const walk = (node: Node, isHidden: boolean): void => {
    if (node.nodeName === '#text') {
      if (!isHidden) text += (node as DefaultTreeAdapterMap['textNode']).value
      return
    }
    const element = 'tagName' in node ? node : null
    const breaks = element !== null && !INLINE.has(element.tagName.toLowerCase())
    if (breaks) text += '\n'
    if (element !== null) link(element, links)
    const isInert = element !== null && INERT.has(element.tagName.toLowerCase())
    if (!isInert && 'childNodes' in node)
      for (const child of node.childNodes) walk(child, isHidden || (element !== null && hides(element)))
    if (breaks) text += '\n'
  }
  walk(parse(html, { scriptingEnabled: true }), false)
  return { words: wordsOf(text), links: [...links] }
}

/** The same as the crawler reads it, in chunks of `size` bytes. */
export function read(html: string | Uint8Array, size = 4096): Read {
  const reader = createPageReader({ contentType: 'text/html; charset=utf-8', url: 'https://example.com/' })
  const bytes = Buffer.from(html)
  for (let at = 0; at < bytes.length; at += size) reader.write(bytes.subarray(at, at + size))
  const { page } = reader.end()
  const links = page.links.filter(({ from }) => from === 'anchor').map(({ target }) => target)
  return { words: wordsOf(page.text.join('\n')), links: [...new Set(links)] }
}

function hides({ tagName, attrs }: Element): boolean {
  const name = tagName.toLowerCase()
  if (UNSEEN.has(name)) return true
  if (name === 'html' || name === 'body') return false
  return attrs.some((each) => each.name === 'hidden' || (each.name === 'style' && HIDING.test(each.value)))
}

function link({ tagName, attrs }: Element, links: Set<string>): void {
  if (tagName !== 'a' && tagName !== 'area') return
  const plain = attrs.find(({ name, prefix }) => name === 'href' && !prefix)
  const target = (plain ?? attrs.find(({ name, prefix }) => name === 'xlink:href' || prefix === 'xlink'))?.value.trim()
  if (target !== undefined && target !== '' && !target.startsWith('#') && target.length <= 2048) links.add(target)
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}
