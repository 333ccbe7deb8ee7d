/** Recognizes plain queries: whole requests that every HTTP parser reads in the same way. */

import type { IncomingHttpHeaders } from 'node:http'

/** `headers` has only those that a handler reads. Requests with the same head share them. */
export type PlainQuery = { path: string; headers: Readonly<IncomingHttpHeaders>; body: string }

/** A head that was read. `bodyLength`: bytes. */
type PlainHead = Omit<PlainQuery, 'body'> & { bodyLength: number }

/** The maximum number of bytes of a plain query. Common ones have less than 1,000. */
const MAX_PLAIN_BYTES = 8_192
/** The maximum number of its header fields. */
const MAX_FIELDS = 64
/** The maximum number of heads that are kept. */
const MAX_KEPT_HEADS = 256
const HEAD_END = '\r\n\r\n'
const REQUEST_LINE = /^POST (\/v1\.0\/[a-z]+) HTTP\/1\.1\r\n/
/** A field line without folding (RFC 9112, section 5), with visible ASCII characters, spaces and tabs only. */
const FIELD_LINE = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e]*)\r\n/y

/** The fields that handlers read. If one is repeated, node:http must combine its values. */
const READ_FIELDS = new Set(['accept', 'accept-encoding', 'origin', 'x-forwarded-for'])
/** The fields that change how the connection or the body is read. */
const SPECIAL_FIELDS = new Set(['transfer-encoding', 'upgrade', 'expect', 'trailer', 'te', 'proxy-connection'])

export class PlainQueryReader {
  /** The last heads by their text: a client sends the same one again. Those of proxies differ by the client. */
  readonly #heads = new Map<string, PlainHead>()

  /**
   * Reads a plain query: one whole POST to an endpoint. Returns null for any other bytes: part of a request, more than
   * one, another method or version, a query string, a body in chunks, a header that affects the connection, or any
   * character that parsers could read in different ways.
   */
  read(bytes: Buffer): PlainQuery | null {
    if (bytes.length > MAX_PLAIN_BYTES || bytes[0] !== 0x50) return null
    const headLength = bytes.indexOf(HEAD_END) + HEAD_END.length
    // not a part of the text of all bytes, which a kept head would keep with the token of its body
    const head = bytes.toString('latin1', 0, headLength)
    const known = this.#heads.get(head)
    const plain = known ?? parseHead(head)
    if (plain === null || plain.bodyLength === 0 || headLength + plain.bodyLength !== bytes.length) return null
    if (known === undefined && plain.headers['x-forwarded-for'] === undefined) this.#keep(head, plain)
    const { path, headers } = plain
    return { path, headers, body: bytes.toString('utf8', headLength) }
  }

  #keep(head: string, plain: PlainHead): void {
    if (this.#heads.size === MAX_KEPT_HEADS) this.#heads.clear()
    this.#heads.set(head, plain)
  }
}

/** Parses a head with the empty line at its end. Null if it is not that of a plain query. */
function parseHead(text: string): PlainHead | null {
  const [line, path] = REQUEST_LINE.exec(text) ?? []
  if (line === undefined || path === undefined) return null
  const headers: IncomingHttpHeaders = {}
  let bodyLength = 0
  let at = line.length
  for (let count = 0; at < text.length - 2; count++) {
    FIELD_LINE.lastIndex = at
    const match = FIELD_LINE.exec(text)
    if (match === null || count === MAX_FIELDS) return null
    at = FIELD_LINE.lastIndex
    const name = match[1]!.toLowerCase()
    if (name === 'content-length') {
      if (bodyLength > 0 || !/^[\t ]*[1-9]\d{0,4}[\t ]*$/.test(match[2]!)) return null
      bodyLength = Number(match[2])
    } else if (name === 'connection') {
      if (match[2]!.trim().toLowerCase() !== 'keep-alive') return null
    } else if (SPECIAL_FIELDS.has(name)) return null
    else if (READ_FIELDS.has(name)) {
      if (headers[name] !== undefined) return null
      headers[name] = match[2]!.trim()
    }
  }
  return { path, headers, bodyLength }
}
