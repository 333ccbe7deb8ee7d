/** What the OpenAPI document says of files: their headers, and the answers beside the whole file. */

export const FILE_HEADERS = {
  ETag: { description: 'Names these bytes; strong (RFC 9110).', schema: { type: 'string' } },
  'Last-Modified': { description: 'When the file was built.', schema: { type: 'string' } },
  'Content-Disposition': { description: 'The name that the download carries.', schema: { type: 'string' } },
  'Content-Range': { description: 'Which bytes of how many.', schema: { type: 'string' } },
  'Accept-Ranges': { description: '`bytes`: GET takes `Range` and `If-Range`.', schema: { type: 'string' } },
  'Repr-Digest': { description: 'SHA-256 of the whole file (RFC 9530).', schema: { type: 'string' } },
} as const

/** Headers of a file that is sent. */
export const SENT_FILE_HEADERS = [
  'ETag',
  'Last-Modified',
  'Content-Disposition',
  'Accept-Ranges',
  'Repr-Digest',
] as const

const GZIP_CONTENT = { 'application/gzip': { schema: { type: 'string', contentMediaType: 'application/gzip' } } }

type HeaderRefs = (...names: (keyof typeof FILE_HEADERS)[]) => Record<string, unknown>

/** The answers to a GET for a file that has conditions, or asks for a part. */
export function partialFileResponses(headerRefs: HeaderRefs): Record<number, unknown> {
  return {
    206: {
      description: 'The part that `Range` asks for.',
      headers: headerRefs(...SENT_FILE_HEADERS, 'Content-Range'),
      content: GZIP_CONTENT,
    },
    304: { description: 'The client has this file already.', headers: headerRefs('ETag', 'Last-Modified') },
    412: {
      description: 'The file is not the one that `If-Match` means.',
      headers: headerRefs('ETag', 'Last-Modified'),
    },
    416: { description: 'The file has no such bytes.', headers: headerRefs('ETag', 'Content-Range') },
  }
}

export function fileResponse(headerRefs: HeaderRefs): Record<string, unknown> {
  return { description: 'The file.', headers: headerRefs(...SENT_FILE_HEADERS), content: GZIP_CONTENT }
}
