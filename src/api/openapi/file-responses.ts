/** The parts of the OpenAPI document about files: their headers and responses. */

export const FILE_HEADERS = {
  ETag: { description: 'The strong entity tag of the file (RFC 9110).', schema: { type: 'string' } },
  'Last-Modified': { description: 'When the file was built.', schema: { type: 'string' } },
  'Content-Disposition': { description: 'The file name of the download.', schema: { type: 'string' } },
  'Content-Range': { description: 'The range of bytes, and the size of the file.', schema: { type: 'string' } },
  'Accept-Ranges': { description: '`bytes`: GET accepts `Range` and `If-Range`.', schema: { type: 'string' } },
  'Repr-Digest': { description: 'SHA-256 of the whole file (RFC 9530).', schema: { type: 'string' } },
} as const

/** The headers of a response with a file. */
export const SENT_FILE_HEADERS = [
  'ETag',
  'Last-Modified',
  'Content-Disposition',
  'Accept-Ranges',
  'Repr-Digest',
] as const

const GZIP_CONTENT = { 'application/gzip': { schema: { type: 'string', contentMediaType: 'application/gzip' } } }

type HeaderRefs = (...names: (keyof typeof FILE_HEADERS)[]) => Record<string, unknown>

/** The responses to a GET for a file with conditions or a range. */
export function partialFileResponses(headerRefs: HeaderRefs): Record<number, unknown> {
  return {
    206: {
      description: 'The range that `Range` requests.',
      headers: headerRefs(...SENT_FILE_HEADERS, 'Content-Range'),
      content: GZIP_CONTENT,
    },
    304: { description: 'The client already has this file.', headers: headerRefs('ETag', 'Last-Modified') },
    412: {
      description: 'The file does not match `If-Match`.',
      headers: headerRefs('ETag', 'Last-Modified'),
    },
    416: { description: 'The range is outside the file.', headers: headerRefs('ETag', 'Content-Range') },
  }
}

export function fileResponse(headerRefs: HeaderRefs): Record<string, unknown> {
  return { description: 'The file.', headers: headerRefs(...SENT_FILE_HEADERS), content: GZIP_CONTENT }
}
