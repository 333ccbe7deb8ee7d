/** Pages of any tags, however nested, are read as the HTML standard says: with the same words and links as parse5. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { inForm } from '../../long.ts'
import { oracle, read } from './reference-parser.ts'

const PAGES = new URL('../../../../shared/data/pages/', import.meta.url)

/** A piece of a page: its tags and text. */
type Piece = fc.Arbitrary<string>

const word = fc.constantFrom('one', 'two', ' three ', '\n', ' ', 'four&amp;', 'é', '&lt;b>', 'a &copy b')
const attribute = fc.constantFrom(
  '',
  '',
  '',
  ' hidden',
  ' style="display:none"',
  ' class=x',
  ' aria-hidden=true',
  ' HIDDEN',
)
const tags = (names: string): Piece => fc.constantFrom(...names.split(' '))
/** Elements with an end tag. */
const element = (name: Piece, content: Piece): Piece =>
  fc.tuple(name, attribute, content).map(([tag, attributes, inside]) => `<${tag}${attributes}>${inside}</${tag}>`)
/** Elements of a list. The end tag may be left out, if the element is not hidden by its own tag. */
const items = (name: Piece, content: Piece): Piece => {
  const item = fc.tuple(name, attribute, content, fc.boolean()).map(([tag, attributes, inside, isEnded]) => {
    const isHidden = /hidden>|none/i.test(`${attributes}>`) && !attributes.includes('aria')
    return `<${tag}${attributes}>${inside}${isEnded || isHidden ? `</${tag}>` : ''}`
  })
  return fc.array(item, { minLength: 1, maxLength: 4 }).map((each) => each.join(''))
}
const run = (piece: Piece): Piece => fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''))

const link = fc
  .tuple(fc.constantFrom('/a', '"/b?x=1&amp;y=2"', "' /c '", '#d', '""'), attribute, word)
  .map(([href, attributes, text]) => `<a href=${href}${attributes}>${text}</a>`)
const unseen = fc
  .tuple(tags('script style noscript template iframe textarea title'), word)
  .map(([name, text]) => `<${name}>${text}</${name}>`)
const other = fc.constantFrom(
  '<!-- no -->',
  '<?no?>',
  '</>',
  '<!x>',
  '<!-->',
  '<svg><title>no</title><path d=x /><a xlink:href=/e><text>no</text></a></svg>',
  '<math><mi>x</mi></math>',
  '<select><option>no<option selected>no</select>',
  '<input type=hidden>',
  '</u>',
)
const { block } = fc.letrec<{ inline: string; block: string }>((tie) => ({
  inline: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 6, arbitrary: word },
    { weight: 2, arbitrary: link },
    { weight: 1, arbitrary: fc.constantFrom('<br>', '<img alt=x>', '<wbr>') },
    { weight: 1, arbitrary: unseen },
    { weight: 1, arbitrary: other },
    { weight: 2, arbitrary: element(tags('b i em span font label q code'), run(tie('inline'))) },
  ),
  block: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: run(tie('inline')) },
    { weight: 2, arbitrary: element(tags('div section article main center blockquote'), run(tie('block'))) },
    { weight: 2, arbitrary: items(tags('p'), run(tie('inline'))) },
    { weight: 1, arbitrary: element(tags('h1 h2 address pre'), run(tie('inline'))) },
    { weight: 1, arbitrary: element(tags('ul ol'), items(tags('li'), run(tie('block')))) },
    { weight: 1, arbitrary: element(tags('dl'), items(tags('dt dd'), run(tie('block')))) },
    { weight: 1, arbitrary: element(tags('table'), items(tags('tr'), items(tags('td th'), run(tie('block'))))) },
    { weight: 1, arbitrary: fc.constant('<hr>') },
  ),
}))
/** Beginnings with and without html, head and body, whose tags may be left out. */
const beginning = fc
  .tuple(
    fc.constantFrom('', '<!doctype html>', '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2//EN">'),
    fc.constantFrom('', '<html>', '<html hidden>'),
    fc.constantFrom(
      '',
      '<head>',
      '<head><meta charset=utf-8><title>no</title>',
      '<title>no</title><link rel=me href=/x>',
    ),
    fc.constantFrom('', '</head>', '</head><body>', '</head>\n<body style="display:none">', '<body>'),
  )
  .map((parts) => parts.join(''))
const pages = fc.tuple(beginning, run(block)).map(([first, rest]) => first + rest)

/** The same pages each time. */
const plain = fc.sample(pages, { numRuns: inForm(2500, 4000), seed: 1 })

test('a sample of the pages has every element, attribute and beginning', () => {
  const all = plain.join('')
  const elements =
    'html head body meta title link div section article main center blockquote p h1 h2 address pre ul ol li dl dt dd ' +
    'table tr td th hr b i em span font label q code a br img wbr script style noscript template iframe textarea svg ' +
    'math select option input'
  for (const name of elements.split(' ')) assert.match(all, new RegExp(`<${name}[ >]`), name)
  for (const part of [
    ' hidden>',
    'display:none',
    'xlink:href',
    '<!-- no',
    '</>',
    '<li>one<li>',
    '</head>\n<body style',
  ])
    assert.ok(all.includes(part), part)
  for (const start of ['<!doctype html>', '<!DOCTYPE HTML PUBLIC', '<html', '<head', '<title', '<body'])
    assert.ok(
      plain.some((page) => page.startsWith(start)),
      start,
    )
  assert.ok(plain.some((page) => page.length > 300))
})

test('pages of nested elements, with optional tags left out, give the same words and links as parse5', () => {
  for (const [index, html] of plain.toSorted((a, b) => a.length - b.length).entries()) {
    const size = 1 + ((index * 37) % 200)
    assert.deepEqual(read(html, size), oracle(html), html)
  }
})

for (const html of [
  '<!doctype html><html><head><title>t</title><div>hello world</div>',
  'hello world',
  '<head></head>hello <b>world',
  '<title>t</title>hello world',
  '<html><p>hello world',
  '<head><meta name=a content=b>hello world',
  '<head><script>no()</script><link rel=me href=/x>hello world<a href=/y>z</a>',
  '</head><body><body hidden>hello world',
]) {
  test(`a page may omit implied tags: ${html}`, () => {
    const { words } = read(html)
    assert.deepEqual(
      words.slice(0, 2).map((word) => word.replace('worldz', 'world')),
      ['hello', 'world'],
    )
    assert.deepEqual(read(html), oracle(html))
  })
}

test('a page of frames has no text', () => {
  const html = '<frameset><frame src=a>no</frameset><noframes>no</noframes>'
  assert.deepEqual(read(html), { words: [], links: [] })
  assert.deepEqual(read(html), oracle(html))
})

for (const kind of ['start-pages', 'articles']) {
  const archive = new URL(`${kind}/html.tar.gz`, PAGES)
  const skip = !existsSync(archive) && `${archive.pathname} is not there`
  test(`the real pages of ${kind} have the same words and links as parse5 finds`, { skip }, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'domaindex-pages-'))
    t.after(() => rmSync(folder, { recursive: true }))
    assert.equal(spawnSync('tar', ['xzf', archive.pathname, '-C', folder]).status, 0)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'))
    assert.ok(files.length > 50)
    for (const file of files) {
      const html = readFileSync(join(folder, file), 'utf8').toWellFormed()
      assert.deepEqual(read(html), oracle(html), file)
    }
  })
}
