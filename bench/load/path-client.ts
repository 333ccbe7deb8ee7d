/** Requests paths that no HTTP client would send. */

import { once } from 'node:events'
import { connect } from 'node:net'

/** The response to a path. Status 0: the connection ended without a response. */
export type PathResponse = { path: string; status: number; body: string }

/** Requests each path on a connection of its own, several at once. */
export async function requestPaths(address: string, paths: readonly string[], parallel = 16): Promise<PathResponse[]> {
  const responses: PathResponse[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < paths.length) responses.push(await requestPath(address, paths[next++]!))
  }
  await Promise.all(Array.from({ length: parallel }, work))
  return responses
}

async function requestPath(address: string, path: string): Promise<PathResponse> {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk) => (text += chunk))
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  await once(socket, 'close')
  return { path, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), body: text.split('\r\n\r\n')[1] ?? '' }
}
