/** The bounds of what the connections of one process may hold. */

/** Requests of one connection that are parsed and not answered, at most; beyond that the socket is paused. */
export const MAX_PIPELINED_REQUESTS = 32
/** Bytes that are parsed at once: the requests in them are the only ones that a connection may have beyond READ_AHEAD. */
export const PARSE_CHUNK_BYTES = 1_024
/** Bytes that all connections of a process may hold unparsed; one that would hold more is closed. */
export const MAX_UNPARSED_BYTES = 64 * 2 ** 20
/** Requests of all connections that are parsed behind others; beyond that a connection is read only once it has no request, and less at once. */
export const MAX_TOTAL_PIPELINED = 64
export const CROWDED_PARSE_CHUNK_BYTES = 128
/** Answers that a connection with further requests still gets while the server drains. */
export const MAX_RESPONSES_WHILE_DRAINING = 256
/** Requests that wait to be begun; beyond that what comes is parsed when its turn has come: parsed requests are costly to keep. */
export const MAX_PARSED_PENDING = 64

/** Bytes that a connection parses at once, by the pipelined requests of the process. */
export function parseChunkBytes(pipelinedRequests: number): number {
  return pipelinedRequests < MAX_TOTAL_PIPELINED ? PARSE_CHUNK_BYTES : CROWDED_PARSE_CHUNK_BYTES
}

/** Parsed requests of a connection without a response, by the pipelined requests of the process. */
export function maxPipelinedRequests(pipelinedRequests: number): number {
  return pipelinedRequests < MAX_TOTAL_PIPELINED ? MAX_PIPELINED_REQUESTS : 1
}
