/** Sends requests as raw bytes that no HTTP client would send. */

import { connect } from 'node:net'

export type Raw = { status: number; head: string; body: string }

/** Sends bytes over a new connection. Resolves when the server closes it. */
export function sendRaw(address: string, bytes: string | Uint8Array): Promise<Raw> {
  const { hostname, port } = new URL(address)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.setEncoding('utf8').on('data', (chunk) => (text += chunk))
    socket.on('error', reject)
    socket.on('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n', 2)
      resolve({ status: Number(head.split(' ', 2)[1]), head, body })
    })
  })
}
