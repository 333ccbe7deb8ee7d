/** Evaluates the conditions and the range of a request for a file (RFC 9110, sections 13 and 14). */

import type { IncomingHttpHeaders } from 'node:http'
import type { Instant } from '../../../values/time.ts'
import { parseHttpDate } from '../headers.ts'

/** The validators of a file: a strong entity tag, and the modification time, which differs between revisions. */
type Validators = { etag: string; modified: Instant }

/** 304: the client already has the file. 412: it is not the file that the client expects. */
type PreconditionResult = 'send' | 304 | 412

/** Evaluates the conditions in the order of section 13.2.2. */
export function evaluatePreconditions(
  headers: IncomingHttpHeaders,
  { etag, modified }: Validators,
): PreconditionResult {
  const match = headers['if-match']
  const noneMatch = headers['if-none-match']
  if (match !== undefined) {
    if (!listHasTag(match, etag, 'strong')) return 412
  } else if (modified > (headerDate(headers['if-unmodified-since']) ?? Infinity)) return 412
  if (noneMatch !== undefined) return listHasTag(noneMatch, etag, 'weak') ? 304 : 'send'
  return modified <= (headerDate(headers['if-modified-since']) ?? -Infinity) ? 304 : 'send'
}

/** A range of bytes. `end` is exclusive. */
export type ByteRange = { start: number; end: number }

/**
 * The range that a GET requests of a file of `size` bytes; null for the whole file. The result is also null if If-Range
 * does not match, if the range is malformed or of another unit, and if there are several ranges.
 */
export function requestedRange(
  headers: IncomingHttpHeaders,
  size: number,
  validators: Validators,
): ByteRange | 416 | null {
  const { range, 'if-range': condition } = headers
  if (range === undefined || !ifRangeMatches(condition, validators)) return null
  const [, set] = /^bytes=(.*)$/i.exec(range) ?? []
  const specs = (set ?? '').split(',').flatMap((spec) => spec.trim() || [])
  return specs.length === 1 ? parseByteRange(specs[0]!, size) : null
}

function parseByteRange(spec: string, size: number): ByteRange | 416 | null {
  const [, first, last, suffix] = /^(?:(\d+)-(\d*)|-(\d+))$/.exec(spec) ?? []
  if (suffix !== undefined) return Number(suffix) > 0 ? { start: Math.max(0, size - Number(suffix)), end: size } : 416
  if (first === undefined || (last && Number(last) < Number(first))) return null
  if (Number(first) >= size) return 416
  return { start: Number(first), end: last ? Math.min(size, Number(last) + 1) : size }
}

/** Whether If-Range matches. A weak tag never matches, and a date only if it is equal. */
function ifRangeMatches(condition: string | string[] | undefined, { etag, modified }: Validators): boolean {
  if (condition === undefined) return true
  const text = String(condition).trim()
  return text.includes('"') ? text === etag : parseHttpDate(text) === modified
}

/** Whether a list of entity tags contains this tag, or is `*`. */
function listHasTag(header: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (header.trim() === '*') return true
  const tags = header.match(/(?:W\/)?"[^"]*"/g) ?? []
  return tags.some((tag) => (comparison === 'weak' ? tag.replace(/^W\//, '') : tag) === etag)
}

const headerDate = (header: string | undefined): Instant | null => (header === undefined ? null : parseHttpDate(header))
