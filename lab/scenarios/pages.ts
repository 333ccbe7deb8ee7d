/** Start pages that are too large, endless, compressed or encoded in every way. */

import {
  bomb,
  brokenOff,
  bytes,
  drippingBody,
  drippingHead,
  endlessBody,
  endlessHead,
  huge,
  packed,
} from '../hostile-bodies.ts'
import { MEADOW, ORCHARD } from '../hosts.ts'
import { type LabRow, row, type StateDescription } from '../lab-row.ts'
import { everywhere, html, page, type Reply, reply } from '../site.ts'

const text = 'The first paragraph is read.'

/** A row with this start page, of which the given text is read. */
const reads = (name: string, shows: string, start: Reply, read: string | null = text): LabRow =>
  row(name, shows, { at: [ORCHARD], site: everywhere(start), web: { text: read } })

/** A head that is too slow or too large is no answer. The certificate is still judged. */
const noAnswer = (start: Reply): StateDescription => ({
  at: [MEADOW],
  site: everywhere(start),
  web: { has_website: false },
})

const meta = (charset: string, body: string): Buffer =>
  Buffer.from(
    `<!doctype html><html><head><meta charset="${charset}"></head><body><p>${body}</p></body></html>`,
    'latin1',
  )

const SIZES: readonly LabRow[] = [
  reads('huge-page.example', 'A page of 3 MiB is read up to a limit.', huge(text)),
  reads('endless-body.example', 'An endless page is read up to a limit.', endlessBody(text)),
  reads('dripping-body.example', 'A page that arrives byte by byte is read until its timeout.', drippingBody(text)),
  reads('gzip-bomb.example', '32 MiB in a few kilobytes of gzip.', bomb('gzip', text)),
  reads('deflate-bomb.example', '32 MiB in a few kilobytes of deflate.', bomb('deflate', text)),
  reads('brotli-bomb.example', '32 MiB in a few bytes of Brotli.', bomb('br', text)),
  reads('zstd-bomb.example', '32 MiB in a few bytes of Zstandard.', bomb('zstd', text)),
  row('endless-head.example', 'An endless head is no response.', noAnswer(endlessHead())),
  row('dripping-head.example', 'A head that arrives byte by byte is no response.', noAnswer(drippingHead())),
  reads('broken-off.example', 'The connection ends within the page: the received part is read.', brokenOff(text)),
  reads('empty-page.example', 'An empty page.', reply(200), null),
  reads('deep-page.example', 'A hundred thousand nested elements.', page(text, '<div>'.repeat(100_000))),
]

const CODINGS: readonly LabRow[] = [
  reads('gzip.example', 'Packed by gzip.', packed('gzip', html(text))),
  reads('deflate.example', 'Packed by deflate.', packed('deflate', html(text))),
  reads('brotli.example', 'Packed by Brotli.', packed('br', html(text))),
  reads('zstd.example', 'Packed by Zstandard.', packed('zstd', html(text))),
  reads(
    'no-coding.example',
    'An unregistered content coding is ignored: the body is read as it is.',
    coded('secret', html(text)),
  ),
  reads('old-coding.example', 'An obsolete content coding: not read.', coded('compress', html(text)), null),
  reads('not-packed.example', 'Declared as gzip, but it is not: not read.', coded('gzip', html(text)), null),
  reads('packed-twice.example', 'Two content codings: not read.', coded('gzip, gzip', html(text)), null),
]

function coded(coding: string, body: string): Reply {
  return reply(200, body, { 'content-encoding': coding })
}

const LETTERS: readonly LabRow[] = [
  reads(
    'charset-in-head.example',
    'The charset of the header precedes that of the page.',
    {
      ...bytes('text/html; charset=windows-1251', meta('utf-8', '\xcf\xf0\xe8\xe2\xe5\xf2')),
    },
    'Привет',
  ),
  reads(
    'charset-in-page.example',
    'The charset that the page declares.',
    bytes('text/html', meta('shift_jis', '\x93\xfa\x96{')),
    '日本',
  ),
  reads(
    'charset-of-mark.example',
    'The byte order mark precedes everything.',
    {
      ...bytes('text/html; charset=iso-8859-1', Buffer.from('\ufeff<p>Grüße</p>', 'utf16le')),
    },
    'Grüße',
  ),
  reads(
    'charset-wrong.example',
    'A page declared as UTF-8 that is not: invalid bytes become U+FFFD.',
    {
      ...bytes('text/html; charset=utf-8', meta('utf-8', 'Gr\xfc\xdfe')),
    },
    'Gr\ufffd\ufffde',
  ),
  reads(
    'charset-unknown.example',
    'An unknown charset is ignored.',
    {
      ...bytes('text/html; charset=klingon', meta('utf-8', Buffer.from('Grüße').toString('latin1'))),
    },
    'Grüße',
  ),
  reads(
    'xn--bcher-kva.example',
    'An internationalized domain with a page in its language.',
    page('Bücher für alle.'),
    'Bücher für alle.',
  ),
  reads('xn--n3h.example', 'A name that no registry would accept.', page('☃ in the north.'), '☃ in the north.'),
]

const KINDS: readonly LabRow[] = [
  reads(
    'pdf.example',
    'A document that is not a page: a website without text.',
    bytes('application/pdf', '%PDF-1.7'),
    null,
  ),
  reads('plain-text.example', 'Plain text is not a page.', bytes('text/plain', text), null),
  reads(
    'xhtml.example',
    'A page in XHTML.',
    bytes('application/xhtml+xml', `<html xmlns="http://www.w3.org/1999/xhtml"><body><p>${text}</p></body></html>`),
  ),
  reads('no-type.example', 'A response without a type is read as a page.', {
    status: 200,
    headers: {},
    body: html(text),
  }),
  reads(
    'hidden-parts.example',
    'Scripts, styles and hidden parts are not text.',
    page(
      '<script>document.write("by script")</script>',
      '<style>p { color: red }</style>',
      '<p hidden>by attribute</p>',
      '<p style="display: none">by style</p>',
      '<noscript>without scripts</noscript>',
      text,
    ),
  ),
  reads(
    'two-lines.example',
    'Text continues through a link and breaks at a paragraph.',
    page('Ships <b>and</b> <a href="/boats">boats</a>', 'since 1890'),
    'Ships and boats since 1890',
  ),
]

export const PAGES: readonly LabRow[] = [...SIZES, ...CODINGS, ...LETTERS, ...KINDS]
