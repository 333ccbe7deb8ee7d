/** A client that keeps one connection open, pipelines requests and records the outcome of each. */

import { connect, type Socket } from 'node:net'

/**
 * The outcomes of requests. `reset`: the connection was reset. `unanswered`: the connection closed before the response
 * without `Connection: close`.
 */
export type Outcomes = {
  statuses: Record<string, number>
  reset: number
  unanswered: number
  connectionsRefused: number
  /** Open connections that had a response with a status below 400. */
  answered: number
  times: number[]
}

export type KeepAliveOptions = {
  port: number
  host?: string
  /** Returns the bytes of the next request. */
  nextRequest: (number: number) => string
  /** Requests in flight per connection. */
  depth: number
  outcomes: Outcomes
  /** Whether the times of responses count. */
  isMeasured: () => boolean
  /** Whether to send further requests, and to reconnect after an announced close. */
  shouldContinue: () => boolean
}

export function emptyOutcomes(): Outcomes {
  return { statuses: {}, reset: 0, unanswered: 0, connectionsRefused: 0, answered: 0, times: [] }
}

/** Sends requests until `shouldContinue` returns false or the server refuses connections. */
export async function runKeepAliveClient(options: KeepAliveOptions): Promise<void> {
  while (options.shouldContinue()) if (!(await useConnection(options))) return
}

/** Uses one connection until it closes. Returns false if the server refused it. */
function useConnection(options: KeepAliveOptions): Promise<boolean> {
  const { port, host = '127.0.0.1', outcomes, depth, nextRequest, shouldContinue } = options
  return new Promise((resolve) => {
    const sent: number[] = []
    let isConnected = false
    let isLast = false
    let hasAnswer = false
    const socket: Socket = connect({ port, host, noDelay: true })
    const send = (): void => {
      sent.push(performance.now())
      socket.write(nextRequest(sent.length))
    }
    const readResponses = responseReader((status, closes) => {
      outcomes.statuses[status] = (outcomes.statuses[status] ?? 0) + 1
      const startedAt = sent.shift() ?? 0
      if (options.isMeasured() && status < 400) outcomes.times.push(performance.now() - startedAt)
      if (status < 400 && !hasAnswer) outcomes.answered++
      hasAnswer ||= status < 400
      isLast ||= closes
      if (isLast) socket.end()
      else if (shouldContinue()) send()
      else if (sent.length === 0) socket.end()
    })
    socket.on('connect', () => {
      isConnected = true
      for (let count = 0; count < depth; count++) send()
    })
    socket.on('data', readResponses)
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (!isConnected && error.code === 'ECONNREFUSED') outcomes.connectionsRefused++
      else if (!isLast) outcomes.reset++
      sent.length = 0
    })
    socket.on('close', () => {
      if (hasAnswer) outcomes.answered--
      if (!isLast && sent.length > 0) outcomes.unanswered++
      resolve(isConnected)
    })
  })
}

/**
 * Parses responses that have a Content-Length or no body. Reports the status of each, and whether it closes the
 * connection.
 */
function responseReader(onResponse: (status: number, closes: boolean) => void): (bytes: Buffer) => void {
  let buffered: Buffer = Buffer.alloc(0)
  let bodyBytesLeft = 0
  return (bytes) => {
    buffered = buffered.length === 0 ? bytes : Buffer.concat([buffered, bytes])
    for (;;) {
      const skipped = Math.min(bodyBytesLeft, buffered.length)
      buffered = buffered.subarray(skipped)
      bodyBytesLeft -= skipped
      const end = bodyBytesLeft > 0 ? -1 : buffered.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = buffered.toString('latin1', 0, end)
      buffered = buffered.subarray(end + 4)
      bodyBytesLeft = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
      onResponse(Number(head.slice(9, 12)), /^connection: close/im.test(head))
    }
  }
}
