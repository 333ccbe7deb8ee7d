/** A connection to a name server over TCP (RFC 7766) or TLS (RFC 9103): one query, and the messages of its answer. */

import { isIP, connect as tcpConnect } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { errorCause, InputError } from '../../import/stream/input-error.ts'

/** `host`: a name or an address. `tls`: the options of a connection over TLS; null for plain TCP. */
export type TransferServer = { host: string; port: number; tls: { ca?: string } | null }

export const DNS_PORT = 53
export const DNS_TLS_PORT = 853
/** Milliseconds to connect, and between two chunks of the answer. */
const IDLE_TIMEOUT_MS = 60_000

/** The connection failed or ended too early. The next attempt may succeed. */
export class BrokenConnection extends InputError {}

/** `idleMs`: milliseconds to connect, and between two chunks. `maxBytes`: of the whole answer. */
export type AnswerLimits = { maxBytes: number; idleMs?: number; signal: AbortSignal }

/**
 * Sends the query, and yields the messages of the answer in batches until the caller stops or the server ends the
 * connection. Throws BrokenConnection if the server cannot be reached or stops answering, and InputError if it sends
 * more than `maxBytes`.
 */
export async function* answerMessages(
  server: TransferServer,
  query: Uint8Array,
  { maxBytes, idleMs = IDLE_TIMEOUT_MS, signal }: AnswerLimits,
): AsyncGenerator<Uint8Array[]> {
  signal.throwIfAborted()
  const socket = openSocket(server)
  const stop = (): void => void socket.destroy(signal.reason as Error)
  signal.addEventListener('abort', stop)
  socket.setTimeout(idleMs, () => socket.destroy(new Error(`no answer for ${idleMs / 1000} seconds`)))
  socket.write(Buffer.concat([Buffer.from([query.length >> 8, query.length & 255]), query]))
  let bytes = 0
  let rest: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxBytes)
        throw new InputError(`the answer has more than ${maxBytes} bytes, the most that is accepted`)
      const cut = cutMessages(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]))
      rest = cut.rest
      if (cut.messages.length > 0) yield cut.messages
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof InputError) throw error
    throw new BrokenConnection(`the connection to ${server.host} port ${server.port} failed: ${errorCause(error)}`)
  } finally {
    signal.removeEventListener('abort', stop)
    socket.destroy()
  }
}

function openSocket({ host, port, tls }: TransferServer) {
  if (tls === null) return tcpConnect({ host, port })
  const servername = isIP(host) > 0 ? {} : { servername: host }
  return tlsConnect({ host, port, ...tls, ...servername, ALPNProtocols: ['dot'], minVersion: 'TLSv1.3' })
}

/** Cuts complete messages, each with two bytes of length before it (RFC 1035, section 4.2.2). */
function cutMessages(bytes: Buffer): { messages: Uint8Array[]; rest: Buffer } {
  const messages: Uint8Array[] = []
  let at = 0
  while (at + 2 <= bytes.length) {
    const end = at + 2 + bytes.readUInt16BE(at)
    if (end > bytes.length) break
    messages.push(bytes.subarray(at + 2, end))
    at = end
  }
  return { messages, rest: at === 0 ? bytes : bytes.subarray(at) }
}
