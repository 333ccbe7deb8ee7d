/** Servers that present a certificate chain without its key: only the first messages of TLS 1.2. */

import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'

const HANDSHAKE = 22
const SERVER_HELLO = 2
const CERTIFICATE = 11
const TLS_1_2 = [3, 3]
const SECURE_RENEGOTIATION = [0, 5, 0xff, 1, 0, 1, 0] // RFC 5746, the only extension

/** The dialogue of such a server: the first messages, then `end`. */
export function showing(chain: readonly X509Certificate[], end: (socket: Socket) => void): (socket: Socket) => void {
  return (socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write(firstFlight(chain), () => end(socket)))
  }
}

/** ServerHello and Certificate (RFC 5246, section 7.4), one record each. */
function firstFlight(chain: readonly X509Certificate[]): Buffer {
  const isCurve = chain[0]?.publicKey.asymmetricKeyType === 'ec'
  const suite = [0xc0, isCurve ? 0x2b : 0x2f] // ECDHE with ECDSA or RSA, AES 128 GCM
  const hello = Buffer.from([...TLS_1_2, ...Buffer.alloc(32, 7), 0, ...suite, 0, ...SECURE_RENEGOTIATION])
  const list = Buffer.concat(chain.map(({ raw }) => withLength(raw, 3)))
  return Buffer.concat([message(SERVER_HELLO, hello), message(CERTIFICATE, withLength(list, 3))])
}

function message(type: number, body: Buffer): Buffer {
  const whole = Buffer.concat([Buffer.of(type), withLength(body, 3)])
  return Buffer.concat([Buffer.from([HANDSHAKE, ...TLS_1_2]), withLength(whole, 2)])
}

function withLength(body: Buffer, bytes: number): Buffer {
  const length = Buffer.alloc(bytes)
  length.writeUIntBE(body.length, 0, bytes)
  return Buffer.concat([length, body])
}
