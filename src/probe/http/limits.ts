/** The limits of a probe on web servers. */

/** Times in milliseconds, sizes in bytes. */
export type WebLimits = {
  /** Until TCP connects. */
  connectMs: number
  /** From then until the TLS handshake completes. */
  handshakeMs: number
  /** From the request to the head of the final response. */
  headMs: number
  /** From `read` to the end of the body. For a page, `read` follows robots.txt. What arrived by then is used. */
  bodyMs: number
  /** All of robots.txt, including redirects. */
  robotsMs: number
  /** The whole web part of a probe. Less than the limit of the probe, which includes DNS. */
  probeMs: number
  headBytes: number
  /** Responses with a 1xx status before the final one. */
  interimResponses: number
  /** Of an encoded body. The rest is cut off. */
  wireBytes: number
  /** Of a decoded body. The rest is cut off. */
  decodedBytes: number
  /** The largest ratio of decoded bytes to wire bytes, after `ratioFrom` decoded bytes. */
  ratio: number
  ratioFrom: number
  robotsBytes: number
  /** Of an ignored body that is read so that its connection serves the next request. */
  drainBytes: number
  /** Per host, both families together. */
  maxAddresses: number
  /** Longest wait for the first grant at an address. The probe can also start later. */
  firstRateLimitWaitMs: number
  /** Longest total wait for grants after the probe started. */
  totalRateLimitWaitMs: number
  /** Cached results of robots.txt, and for how long. */
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
