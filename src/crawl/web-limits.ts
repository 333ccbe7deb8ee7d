/** The bounds of what a visit takes from web servers. */

/** Times in milliseconds, sizes in bytes. */
export type WebLimits = {
  /** Until a TCP connection stands. */
  connect: number
  /** From there until the TLS handshake is done. */
  handshake: number
  /** From the request until the head of the final answer is there. */
  head: number
  /** From when it is wanted, which for a page is after robots.txt, until the body is there; what came by then is read. */
  body: number
  /** All of robots.txt, redirects included. */
  robots: number
  /** All that a visit does on the web; below the bound of the whole visit, which counts DNS as well. */
  visit: number
  headBytes: number
  /** Answers with a 1xx status before the final one. */
  interims: number
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
  addresses: number
  /** That a visit waits for its first turn at an address: it can begin later as well. */
  firstTurn: number
  /** That it waits for turns once it has begun, all of them together. */
  turns: number
  /** Answers of robots.txt that are remembered, and how long. */
  robotsKept: number
  robotsLife: number
}

export const WEB_LIMITS: WebLimits = {
  connect: 5_000,
  handshake: 5_000,
  head: 10_000,
  body: 15_000,
  robots: 10_000,
  visit: 50_000,
  headBytes: 32 * 1024,
  interims: 8,
  wireBytes: 1024 * 1024,
  decodedBytes: 2 * 1024 * 1024,
  ratio: 200,
  ratioFrom: 64 * 1024,
  robotsBytes: 512 * 1024,
  drainBytes: 64 * 1024,
  addresses: 4,
  firstTurn: 1_000,
  turns: 10_000,
  robotsKept: 20_000,
  robotsLife: 24 * 60 * 60 * 1000,
}
