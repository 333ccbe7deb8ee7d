/** The limits of the requests and bytes that the connections of one process may hold. */

/** The maximum number of parsed requests of a connection without a response. Above it, the socket is paused. */
export const MAX_PIPELINED_REQUESTS = 32
/** The number of bytes that are parsed at once. Only the requests in them may exceed MAX_PIPELINED_REQUESTS. */
export const PARSE_CHUNK_BYTES = 1_024
/** The maximum number of unparsed bytes of all connections. A connection that exceeds it is closed. */
export const MAX_UNPARSED_BYTES = 64 * 2 ** 20
/**
 * If all connections together have more pipelined requests, a connection is read only when it has no request, and fewer
 * bytes are parsed at once.
 */
export const MAX_TOTAL_PIPELINED = 64
export const CROWDED_PARSE_CHUNK_BYTES = 128
/** The maximum number of responses that a connection with further requests gets while the server drains. */
export const MAX_RESPONSES_WHILE_DRAINING = 256
/** If more requests wait to be started, bytes are parsed only at their turn, because parsed requests need memory. */
export const MAX_PARSED_PENDING = 64

/** The number of bytes that a connection parses at once, by the pipelined requests of the process. */
export function parseChunkBytes(pipelinedRequests: number): number {
  return pipelinedRequests < MAX_TOTAL_PIPELINED ? PARSE_CHUNK_BYTES : CROWDED_PARSE_CHUNK_BYTES
}

/** The maximum number of parsed requests of a connection, by the pipelined requests of the process. */
export function maxPipelinedRequests(pipelinedRequests: number): number {
  return pipelinedRequests < MAX_TOTAL_PIPELINED ? MAX_PIPELINED_REQUESTS : 1
}
