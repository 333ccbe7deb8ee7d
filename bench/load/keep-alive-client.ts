/** A client that keeps one connection: it asks on and on, some requests ahead, and says what became of each. */

import { connect, type Socket } from 'node:net'

/**
 * What became of requests. `reset`: the connection was reset; `cut`: it ended without an answer, and without a word
 * before.
 */
export type Outcomes = {
  statuses: Record<string, number>
  reset: number
  cut: number
  refused: number
  /** Open connections that have had an answer below 400. */
  answered: number
  times: number[]
}

export type KeptOptions = {
  port: number
  host?: string
  /** One request, as bytes. */
  ask: (number: number) => string
  /** Requests under way at once. */
  depth: number
  outcomes: Outcomes
  /** Whether times of answers count. */
  isMeasured: () => boolean
  /** Whether to ask again, and to connect again after an end that was announced. */
  goesOn: () => boolean
}

export function noOutcomes(): Outcomes {
  return { statuses: {}, reset: 0, cut: 0, refused: 0, answered: 0, times: [] }
}

/** Asks until it is told to stop, or nobody listens any more. */
export async function keptClient(options: KeptOptions): Promise<void> {
  while (options.goesOn()) if (!(await connection(options))) return
}

/** One connection; false if nobody listens. */
function connection(options: KeptOptions): Promise<boolean> {
  const { port, host = '127.0.0.1', outcomes, depth, ask, goesOn } = options
  return new Promise((resolve) => {
    const sent: number[] = []
    let isConnected = false
    let isLast = false
    let isAnswered = false
    const socket: Socket = connect({ port, host, noDelay: true })
    const send = (): void => {
      sent.push(performance.now())
      socket.write(ask(sent.length))
    }
    const read = reader((status, closes) => {
      outcomes.statuses[status] = (outcomes.statuses[status] ?? 0) + 1
      const began = sent.shift() ?? 0
      if (options.isMeasured() && status < 400) outcomes.times.push(performance.now() - began)
      if (status < 400 && !isAnswered) outcomes.answered++
      isAnswered ||= status < 400
      isLast ||= closes
      if (isLast) socket.end()
      else if (goesOn()) send()
      else if (sent.length === 0) socket.end()
    })
    socket.on('connect', () => {
      isConnected = true
      for (let count = 0; count < depth; count++) send()
    })
    socket.on('data', read)
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (!isConnected && error.code === 'ECONNREFUSED') outcomes.refused++
      else if (!isLast) outcomes.reset++
      sent.length = 0
    })
    socket.on('close', () => {
      if (isAnswered) outcomes.answered--
      if (!isLast && sent.length > 0) outcomes.cut++
      resolve(isConnected)
    })
  })
}

/**
 * Reads answers that have a Content-Length, or no body; says the status of each, and whether it is the connection's
 * last.
 */
function reader(answered: (status: number, closes: boolean) => void): (bytes: Buffer) => void {
  let held: Buffer = Buffer.alloc(0)
  let left = 0
  return (bytes) => {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes])
    for (;;) {
      const skipped = Math.min(left, held.length)
      held = held.subarray(skipped)
      left -= skipped
      const end = left > 0 ? -1 : held.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = held.toString('latin1', 0, end)
      held = held.subarray(end + 4)
      left = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
      answered(Number(head.slice(9, 12)), /^connection: close/im.test(head))
    }
  }
}
