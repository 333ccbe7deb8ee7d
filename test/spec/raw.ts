/** Requests that no HTTP client would send: text to a socket, and what comes back until it is closed. */

import { connect } from 'node:net'

/** Sends the text as it is and returns all that the server says before it closes the connection. */
export function sendRaw(address: string, text: string): Promise<string> {
  const { hostname, port } = new URL(address)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let answer = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
    socket.write(text)
  })
}

/** The JSON in the body of the last answer in a text. */
export function bodyOf(answer: string): unknown {
  return JSON.parse(answer.slice(answer.lastIndexOf('\r\n\r\n') + 4))
}
