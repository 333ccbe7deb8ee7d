/** The bounds of what a visit takes from web servers. */

/** Times in milliseconds, sizes in bytes. */
export type WebLimits = {
  /** Until a TCP connection stands. */
  connectMs: number
  /** From there until the TLS handshake is done. */
  handshakeMs: number
  /** From the request until the head of the final answer is there. */
  headMs: number
  /** From when it is wanted, which for a page is after robots.txt, until the body is there; what came by then is read. */
  bodyMs: number
  /** All of robots.txt, redirects included. */
  robotsMs: number
  /** All that a visit does on the web; below the bound of the whole visit, which counts DNS as well. */
  probeMs: number
  headBytes: number
  /** Answers with a 1xx status before the final one. */
  interimResponses: number
  /** Of a body as it is sent; more is cut off. */
  wireBytes: number
  /** Of a body as it is decoded; more is cut off. */
  decodedBytes: number
  /** So many times the bytes on the wire may come out of a decoder, once the output is over `ratioFrom`. */
  ratio: number
  ratioFrom: number
  robotsBytes: number
  /** Of a body that nobody reads, so that its connection serves the next request. */
  drainBytes: number
  /** Tried for one host, both families counted. */
  maxAddresses: number
  /** That a visit waits for its first turn at an address: it can begin later as well. */
  firstRateLimitWaitMs: number
  /** That it waits for turns once it has begun, all of them together. */
  totalRateLimitWaitMs: number
  /** Answers of robots.txt that are remembered, and how long. */
  maxRobotsCached: number
  robotsCacheMs: number
}

export const WEB_LIMITS: WebLimits = {
  connectMs: 5_000,
  handshakeMs: 5_000,
  headMs: 10_000,
  bodyMs: 15_000,
  robotsMs: 10_000,
  probeMs: 50_000,
  headBytes: 32 * 1024,
  interimResponses: 8,
  wireBytes: 1024 * 1024,
  decodedBytes: 2 * 1024 * 1024,
  ratio: 200,
  ratioFrom: 64 * 1024,
  robotsBytes: 512 * 1024,
  drainBytes: 64 * 1024,
  maxAddresses: 4,
  firstRateLimitWaitMs: 1_000,
  totalRateLimitWaitMs: 10_000,
  maxRobotsCached: 20_000,
  robotsCacheMs: 24 * 60 * 60 * 1000,
}
