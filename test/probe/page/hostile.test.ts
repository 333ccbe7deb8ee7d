/** Hostile pages: the reader always ends, and its output is bounded. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createPageReader, type ParsedPage } from '../../../src/probe/page/page.ts'
import { HTML_PIECES } from './html-pieces.ts'

const MEBIBYTE = 1024 * 1024
const CHUNK = 4096

const HOSTILE: Record<string, (times: number) => string> = {
  'elements nested without end': (times) => '<div>'.repeat(times),
  'hidden elements nested without end': (times) => '<i hidden>a'.repeat(times),
  'end tags of nothing': (times) => '</p></div>'.repeat(times),
  'end tags that fit nothing inside': (times) => `${'<b>'.repeat(times)}${'</i>'.repeat(times)}`,
  'forms in forms': (times) => '<form>'.repeat(times),
  'drawings in drawings': (times) => `${'<svg><foreignObject>'.repeat(times)}${'</foreignObject>'.repeat(times)}`,
  'paragraphs that end each other': (times) => '<p>a'.repeat(times),
  'tables in tables': (times) => '<table><tr><td>'.repeat(times),
  'tables with text': (times) => '<table>x'.repeat(times),
  'cells without rows, too deep': (times) => '<div>'.repeat(511) + '<table><td>x'.repeat(times),
  'columns without groups, too deep': (times) => '<div>'.repeat(511) + '<table><col>x</table>'.repeat(times),
  'links in links': (times) => '<a><b><i><p></a>'.repeat(times),
  'paragraphs in many formats': (times) =>
    `<p>${Array.from({ length: 64 }, (_, at) => `<font style=x${at}>`).join('')}</p>${'<p>x</p>'.repeat(times)}`,
  'end tags of what is far away': (times) => `<x><div>${'<y>'.repeat(500)}${'</x>'.repeat(times)}`,
  'blocks far from their paragraph': (times) => `<p><object>${'<i>'.repeat(480)}${'<div></div>'.repeat(times)}`,
  'noscript without content': (times) => '<noscript></noscript>'.repeat(times),
  'lists in lists': (times) => '<select><option>x<table>'.repeat(times),
  'templates in templates': (times) => '<template><td>'.repeat(times),
  'attributes without end': (times) => `<a ${'x=1 '.repeat(times)}>`,
  'a value without end': (times) => `<a href="${'x'.repeat(times)}`,
  'a name without end': (times) => `<${'a'.repeat(times)}`,
  'a comment without end': (times) => `<!--${'- -->x<!--'.repeat(times)}`,
  'a comment that nothing ends': (times) => `<!--${'-'.repeat(times)}`,
  'references that are none': (times) => '&'.repeat(times),
  'references that are cut off': (times) => `<title>${'&am'.repeat(times)}`,
  'references without end': (times) => '&amp;'.repeat(times),
  'tags that never begin': (times) => '<'.repeat(times),
  'ends of a script that are none': (times) => `<script>${'</scrip'.repeat(times)}`,
  'data nested without end': (times) => `<script type="application/ld+json">${'['.repeat(times)}`,
  'data of many keys': (times) =>
    `<script type="application/ld+json">[${'{"sameAs":"https://a.example"},'.repeat(times)}1]</script>`,
  'links without end': (times) => Array.from({ length: times }, (_, at) => `<a href=/${at}>x</a>`).join(''),
  'spaces in a style': (times) => `<p style="display${' '.repeat(times)}:none">a`,
  'numbers in a refresh': (times) => `<meta http-equiv=refresh content="${'1'.repeat(4000)}x">`.repeat(times / 4000),
  'spaces in a refresh': (times) => `<meta http-equiv=refresh content="1${' '.repeat(times)}x">`,
}

function read(html: string | Uint8Array, size = CHUNK): ParsedPage {
  const reader = createPageReader({ contentType: 'text/html', url: 'https://example.com/' })
  const bytes = Buffer.from(html)
  for (let at = 0; at < bytes.length; at += size) reader.write(bytes.subarray(at, at + size))
  return reader.end()
}

function assertBounded({ page, refresh }: ParsedPage): void {
  assert.ok(page.links.length <= 2000)
  for (const { name, target } of page.links) assert.ok(target.length <= 2048 && name.length <= 128 && target !== '')
  assert.ok(page.text.reduce((sum, piece) => sum + piece.length, 0) <= 256 * 1024)
  assert.ok(page.text.every((piece) => piece !== ''))
  for (const url of [page.base, refresh ?? page.base]) assert.match(url, /^https?:/)
}

for (const [what, make] of Object.entries(HOSTILE)) {
  test(`a page of ${what} is read to its end, within its limits`, () => {
    assertBounded(read(make(100_000)))
  })
}

test('a page is read up to 2 MiB', () => {
  const { page } = read(`${'<!-- -->'.repeat((2 * MEBIBYTE) / 8)}late`)
  assert.deepEqual(page.text, [])
})

test('elements deeper than 512 are not tracked, and the text after them is still read', () => {
  const depth = 100_000
  const { page } = read(`${'<div>'.repeat(depth)}deep${'</div>'.repeat(depth)}<p hidden>no</p><p>after`)
  assert.deepEqual(page.text, ['deep', 'after'])
})

test('a data block over 256 KiB is not read, and the next one is', () => {
  const block = (text: string) => `<script type="application/ld+json">${text}</script>`
  const { page } = read(block(`{"a":"${'x'.repeat(256 * 1024)}","sameAs":"/no"}`) + block('{"sameAs":"/yes"}'))
  assert.deepEqual(page.links, [{ from: 'data', name: 'sameas', target: '/yes' }])
})

/** Long enough that the charset is decided and the rest is streamed. */
const SNIFFED = `<!--${' '.repeat(1024)}-->`
const htmls = fc.array(fc.oneof(fc.constantFrom(...HTML_PIECES), fc.string({ maxLength: 8 })), { maxLength: 60 })

test('any sequence of tokens is read, with the same bounded result for all chunks', () => {
  fc.assert(
    fc.property(htmls, fc.integer({ min: 1, max: 40 }), (parts, size) => {
      const html = SNIFFED + parts.join('')
      const whole = read(html)
      assertBounded(whole)
      assert.deepEqual(read(html, size), whole)
    }),
    { numRuns: 1000 },
  )
})

test('any bytes in any charset are read', () => {
  const charset = fc.oneof(
    fc.constantFrom('utf-16', 'shift_jis', 'iso-2022-jp', 'replacement', 'gb18030', '"', ';;'),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), charset, (bytes, label) => {
      const reader = createPageReader({ contentType: `text/html; charset=${label}`, url: 'https://example.com/' })
      reader.write(bytes.subarray(0, 100))
      reader.write(bytes.subarray(100))
      assertBounded(reader.end())
    }),
    { numRuns: 500 },
  )
})
