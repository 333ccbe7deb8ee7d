/** The certificate inside a TLS session, as OpenSSL writes sessions down (SSL_SESSION in DER, d2i_SSL_SESSION(3)). */

const SEQUENCE = 0x30
const TWO_BYTES = 0x82
const HEAD_BYTES = 4
/** What Node may write in front: a mark of its own and the server's name. */
const MOST_IN_FRONT = 512
/** The field of the certificate, by its tag: EXPLICIT 3. */
const PEER = 0xa3

/** Its bytes; null where they are not found. */
export function certificateIn(session: Buffer | undefined): Buffer | null {
  if (session === undefined) return null
  let at = startOf(session)
  while (at < session.length - HEAD_BYTES) {
    const field = fieldAt(session, at)
    if (session[at] === PEER) return session.subarray(field.from, field.end)
    at = field.end
  }
  return null
}

/** Where the first field begins: inside the sequence that ends with the session; behind everything where there is none. */
function startOf(session: Buffer): number {
  for (let at = 0; at < Math.min(MOST_IN_FRONT, session.length - HEAD_BYTES); at++) {
    const isSequence = session[at] === SEQUENCE && session[at + 1] === TWO_BYTES
    if (isSequence && at + HEAD_BYTES + session.readUInt16BE(at + 2) === session.length) return at + HEAD_BYTES
  }
  return session.length
}

/** Where the content of the field at a place begins and ends (X.690, chapter 8.1.3); at least HEAD_BYTES are there. */
function fieldAt(session: Buffer, at: number): { from: number; end: number } {
  const first = session[at + 1]!
  if (first < 0x80) return { from: at + 2, end: at + 2 + first }
  const from = at + (first === TWO_BYTES ? HEAD_BYTES : 3)
  const length = first === TWO_BYTES ? session.readUInt16BE(at + 2) : session[at + 2]!
  return first > TWO_BYTES ? { from, end: session.length } : { from, end: from + length }
}
