/** Hostile bodies: too large, endless, compression bombs, unusual charsets. */

import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { type Body, dripFeed, forever, HTML, html, type Reply, reply } from './site.ts'

/** The content codings of RFC 9110, section 8.4.1, and RFC 8878. */
const PACKERS = {
  gzip: (body: Uint8Array) => gzipSync(body),
  deflate: (body: Uint8Array) => deflateSync(body),
  br: (body: Uint8Array) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (body: Uint8Array) => zstdCompressSync(body),
} as const
type Packing = keyof typeof PACKERS

const BOMB_BYTES = 32 * 1024 * 1024
const HUGE_PIECES = 48
const PIECE = `<!-- ${'-'.repeat(65_527)} -->`

export function packed(packing: Packing, body: string): Reply {
  return reply(200, PACKERS[packing](Buffer.from(body)), { 'content-encoding': packing })
}

/** A page of some kilobytes that decompresses to 32 MiB. It is compressed on first use. */
export function bomb(packing: Packing, paragraph: string): Reply {
  let bomb: Uint8Array | null = null
  const make = () => {
    bomb ??= PACKERS[packing](Buffer.concat([Buffer.from(start(paragraph)), Buffer.alloc(BOMB_BYTES, 0x20)]))
    return [bomb]
  }
  return reply(200, make, { 'content-encoding': packing })
}

/** A page of 3 MiB: a paragraph, hidden content, and a last paragraph beyond every limit. */
export function huge(paragraph: string): Reply {
  return reply(200, [start(paragraph), ...Array(HUGE_PIECES).fill(PIECE), '<p>The end.</p></body></html>'].join('\n'))
}

/** A paragraph, then endless hidden content. */
export function endlessBody(paragraph: string): Reply {
  return reply(200, () => forever(PIECE, [start(paragraph)]))
}

/** A paragraph, then a space every tenth of a second. */
export function drippingBody(paragraph: string): Reply {
  return reply(200, () => dripFeed(' ', start(paragraph)))
}

export function endlessHead(): Reply {
  return { wire: () => forever(`X-More: ${'x'.repeat(1000)}\r\n`, ['HTTP/1.1 200 OK\r\n']) }
}

/** A head that arrives one character per tenth of a second. */
export function drippingHead(): Reply {
  return { wire: () => dripFeed('x', 'HTTP/1.1 200 OK\r\nX-More: ') }
}

/** Announces more content than it sends, then closes the connection. */
export function brokenOff(paragraph: string): Reply {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: ${HTML}\r\nContent-Length: 100000\r\nConnection: close\r\n\r\n`
  return { wire: () => [head + start(paragraph)] }
}

/** Bytes with a content type, unchanged. */
export function bytes(contentType: string, body: Body): Reply {
  return reply(200, body, { 'content-type': contentType })
}

function start(paragraph: string): string {
  return html(paragraph).replace(/<\/body>.*/s, '')
}
