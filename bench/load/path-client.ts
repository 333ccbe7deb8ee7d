/** Asks a server for paths that no HTTP client would send, one connection after another. */

import { once } from 'node:events'
import { connect } from 'node:net'

/** What a path was answered with; status 0 if the connection ended without an answer. */
export type PathAnswer = { path: string; status: number; body: string }

/** Asks for each path on a connection of its own, several at once. */
export async function askPaths(address: string, paths: readonly string[], parallel = 16): Promise<PathAnswer[]> {
  const answers: PathAnswer[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < paths.length) answers.push(await askPath(address, paths[next++]!))
  }
  await Promise.all(Array.from({ length: parallel }, work))
  return answers
}

async function askPath(address: string, path: string): Promise<PathAnswer> {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk) => (text += chunk))
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  await once(socket, 'close')
  return { path, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), body: text.split('\r\n\r\n')[1] ?? '' }
}
