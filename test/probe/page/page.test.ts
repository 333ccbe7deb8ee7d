/** The start page as it is streamed: charset, links, text, base and meta refresh. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPageReader } from '../../../src/probe/page/page.ts'

const URL_OF_PAGE = 'https://www.example.com/start'

/** Reads a page in chunks of `size` bytes. */
function read(html: string | Uint8Array, { contentType = 'text/html', size = 7 } = {}) {
  const reader = createPageReader({ contentType, url: URL_OF_PAGE })
  const bytes = typeof html === 'string' ? Buffer.from(html) : html
  for (let at = 0; at < bytes.length; at += size) reader.write(bytes.subarray(at, at + size))
  return reader.end()
}

const textOf = (html: string | Uint8Array, contentType?: string) =>
  read(html, contentType === undefined ? {} : { contentType }).page.text.join('|')
const latin = (text: string) => Buffer.from(text, 'latin1')

for (const [what, bytes, contentType] of [
  [
    'a byte order mark, before the header',
    Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('Grüße')]),
    'text/html; charset=latin1',
  ],
  ['a byte order mark of UTF-16', Buffer.from('\ufeffGrüße', 'utf16le'), 'text/html'],
  ['the header, before the meta', latin('<meta charset=utf-8>Grüße'), 'text/html;charset="ISO-8859-1"'],
  ['the meta', latin('<meta charset=windows-1252>Grüße'), 'text/html'],
  ['the older meta', latin('<meta http-equiv=Content-Type content="text/html; charset=iso-8859-1">Grüße'), 'text/html'],
  ['its bytes without a declaration: UTF-8', Buffer.from('Grüße'), 'text/html'],
  ['its bytes without a declaration: windows-1252', latin('Grüße'), 'text/html'],
  ['its bytes if the label is unknown', Buffer.from('Grüße'), 'text/html; charset=none-such'],
] as const) {
  test(`the charset comes from ${what}`, () => assert.equal(textOf(bytes, contentType), 'Grüße'))
}

test('a charset that must not be read causes no error', () => {
  assert.equal(textOf('Hello', 'text/html; charset=iso-2022-kr'), 'Hello')
})

test('a page gives the same result in chunks of any size', () => {
  const html = `<!--${' '.repeat(1024)}-->
    <p>Ünï&amp;co &copy<a href="/a?x=1&amp;y=2">b</a><!-- c -->d</p><script type=application/ld+json>{"sameAs":["https://x.com/e"]}</script><title>f</title>`
  const whole = read(html, { size: 100_000 })
  for (const size of [1, 2, 3, 5, 64, 1024]) assert.deepEqual(read(html, { size }), whole)
})

test('links are collected in page order with their attributes, each once', () => {
  const { page } = read(`
    <link rel="Me" href=https://a.example/1><link rel=stylesheet href=/style.css>
    <meta name=twitter:site content="@two"><meta property="og:see_also" content="https://a.example/3">
    <a rel="me nofollow" href=" https://a.example/4 ">x</a><a href="/5">y</a><a href="/5">again</a><a href="#top">z</a>
    <map><area href=/6></map><svg><a xlink:href="/7"><title>no</title></a></svg>
    <script type="application/ld+json">{"@graph":[{"url":"https://a.example/8","sameAs":["https://a.example/9"]}]}</script>
    <a href="/10">end</a>`)
  assert.deepEqual(page.links, [
    { from: 'link', name: 'me', target: 'https://a.example/1' },
    { from: 'meta', name: 'twitter:site', target: '@two' },
    { from: 'meta', name: 'og:see_also', target: 'https://a.example/3' },
    { from: 'anchor', name: 'me nofollow', target: 'https://a.example/4' },
    { from: 'anchor', name: '', target: '/5' },
    { from: 'anchor', name: '', target: '/6' },
    { from: 'anchor', name: '', target: '/7' },
    { from: 'data', name: 'url', target: 'https://a.example/8' },
    { from: 'data', name: 'sameas', target: 'https://a.example/9' },
    { from: 'anchor', name: '', target: '/10' },
  ])
})

test('links of hidden menus count, and those of noscript, template and comments do not', () => {
  const { page } = read(
    '<nav hidden><a href=/menu>m</a></nav><noscript><a href=/n>n</a></noscript><template><a href=/t>t</a></template><!-- <a href=/c>c</a> -->',
  )
  assert.deepEqual(
    page.links.map(({ target }) => target),
    ['/menu'],
  )
})

for (const [what, html, expected] of [
  ['text runs on through elements in a line', '<p>One <b>wo</b>rd,<i> two</i></p>', 'One word, two'],
  ['a block breaks the line', '<div>one<p>two<ul><li>three<li>four</ul>five', 'one|two|three|four|five'],
  ['<br> breaks the line', 'one<br>two', 'one|two'],
  ['references are read', 'a &amp; b &#x41;&#66; &eacute;', 'a & b AB é'],
  [
    'title, scripts and styles are not seen',
    '<head><title>no</title><style>no</style></head><body>yes<script>no</script>',
    'yes',
  ],
  ['noscript and template are not seen', 'yes<noscript>no</noscript><template>no<p>no</template>', 'yes'],
  ['what is hidden by its own tag is not seen', 'a<div hidden>no<div>no</div>no</div>b', 'a|b'],
  [
    'display: none and visibility: hidden hide',
    '<p style="color:red; DISPLAY : none">no<p style="visibility:hidden">no<p>yes',
    'yes',
  ],
  ['an end tag left out ends what is hidden', '<ul><li hidden>no<li>yes</ul><p hidden>no<div>yes', 'yes|yes'],
  ['aria-hidden is seen', '<span aria-hidden=true>yes</span>', 'yes'],
  ['a page that its scripts will show is seen', '<html hidden><body style="display:none">yes', 'yes'],
  ['drawings and closed lists are not seen', '<svg><text>no</text></svg><select><option>no</select>yes', 'yes'],
  ['a title inside a drawing does not swallow the page', '<svg><title/><path/></svg>yes', 'yes'],
  ['text behind an end tag of nothing is seen', '</p></div></svg>yes', 'yes'],
  ['a comment that never ends swallows the rest', 'yes<!-- no', 'yes'],
] as const) {
  test(`${what}`, () => assert.equal(textOf(html), expected))
}

test('an XHTML page is read as XML: an empty script tag is closed', () => {
  const xhtml = '<html xmlns="http://www.w3.org/1999/xhtml"><script src="a.js"/><p>yes<![CDATA[ & more]]></p></html>'
  assert.equal(textOf(xhtml, 'application/xhtml+xml; charset=utf-8'), 'yes & more')
})

test('relative links are resolved against the first base, or against the page without one', () => {
  assert.equal(read('<base target=_top><base href=/b/><base href=/c/>').page.base, 'https://www.example.com/b/')
  assert.equal(read('<base href="data:,x">').page.base, URL_OF_PAGE)
})

for (const [what, content, expected] of [
  ['at once', '0; url=/next', 'https://www.example.com/next'],
  ['in quotes', "0;URL='https://other.example/a b'", 'https://other.example/a%20b'],
  ['after five seconds', '5, url = next', 'https://www.example.com/next'],
  ['of a fraction of a second', '.5;/next', 'https://www.example.com/next'],
  ['without url=', '3 /next', 'https://www.example.com/next'],
  ['later than five seconds', '6; url=/next', null],
  ['to the page itself', '2', null],
  ['to the page itself by its address', '0; url=/start#top', null],
  ['to a script', '0; url=javascript:alert(1)', null],
  ['that cannot be read', 'soon; url=/next', null],
] as const) {
  test(`a meta refresh ${what} leads to ${expected ?? 'nowhere'}`, () => {
    assert.equal(read(`<meta http-equiv=Refresh content="${content}">`).refresh, expected)
  })
}

test('the first meta refresh counts, and one within noscript does not', () => {
  const refresh = (to: string) => `<meta http-equiv="refresh" content="${to}">`
  assert.equal(
    read(`<noscript>${refresh('0;/plain')}</noscript>${refresh('1;/a')}${refresh('0;/b')}`).refresh,
    'https://www.example.com/a',
  )
  assert.equal(read(refresh('30;/a') + refresh('0;/b')).refresh, null)
})
