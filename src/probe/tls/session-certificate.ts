/** The certificate inside a TLS session in OpenSSL's format (SSL_SESSION in DER, d2i_SSL_SESSION(3)). */

const DER_SEQUENCE = 0x30
const DER_TWO_BYTE_LENGTH = 0x82
const DER_HEADER_BYTES = 4
/** Node may write a prefix: its own marker and the server's name. */
const MAX_PREFIX_BYTES = 512
/** The tag of the certificate's field: EXPLICIT 3. */
const PEER_CERTIFICATE_TAG = 0xa3

/** The bytes of the certificate. Returns null if they are not found. */
export function certificateFromSession(session: Buffer | undefined): Buffer | null {
  if (session === undefined) return null
  let at = firstFieldOffset(session)
  while (at < session.length - DER_HEADER_BYTES) {
    const field = derFieldAt(session, at)
    if (session[at] === PEER_CERTIFICATE_TAG) return session.subarray(field.from, field.end)
    at = field.end
  }
  return null
}

/**
 * The offset of the first field, inside the sequence that ends with the session. Returns the session's length if there
 * is none.
 */
function firstFieldOffset(session: Buffer): number {
  for (let at = 0; at < Math.min(MAX_PREFIX_BYTES, session.length - DER_HEADER_BYTES); at++) {
    const isSequence = session[at] === DER_SEQUENCE && session[at + 1] === DER_TWO_BYTE_LENGTH
    if (isSequence && at + DER_HEADER_BYTES + session.readUInt16BE(at + 2) === session.length)
      return at + DER_HEADER_BYTES
  }
  return session.length
}

/** The content of the field at `at` (X.690, section 8.1.3). At least DER_HEADER_BYTES must remain. */
function derFieldAt(session: Buffer, at: number): { from: number; end: number } {
  const first = session[at + 1]!
  if (first < 0x80) return { from: at + 2, end: at + 2 + first }
  const from = at + (first === DER_TWO_BYTE_LENGTH ? DER_HEADER_BYTES : 3)
  const length = first === DER_TWO_BYTE_LENGTH ? session.readUInt16BE(at + 2) : session[at + 2]!
  return first > DER_TWO_BYTE_LENGTH ? { from, end: session.length } : { from, end: from + length }
}
