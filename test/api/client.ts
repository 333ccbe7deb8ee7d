/** A client with one keep-alive connection. */

import { Agent, type IncomingMessage, request } from 'node:http'

/** `isLast`: the connection ends after it. */
export type Answer = { status: number; text: string; isLast: boolean }

export type Client = { get(path: string): Promise<Answer>; close(): void }

export function clientOf(address: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const get = (path: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const asked = request(`${address}${path}`, { agent }, (answer: IncomingMessage) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (chunk) => (text += chunk))
        answer.on('error', reject)
        answer.on('end', () => {
          resolve({ status: answer.statusCode!, text, isLast: answer.headers.connection === 'close' })
        })
      })
      asked.on('error', reject)
      asked.end()
    })
  return { get, close: () => agent.destroy() }
}
