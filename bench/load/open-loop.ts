/**
 * A process that sends /lookup requests at a constant rate. The time of a request starts when it is due, whatever the
 * responses take.
 */

import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { quantile } from '../measure/rounds.ts'

/** `bodies`: the requests, sent in turn. Each response must have the status 200 and name the queried domain. */
export type OpenLoad = {
  url: string
  rate: number
  seconds: number
  bodies: readonly { token: string; query: string }[]
}
/** Times in milliseconds. */
export type OpenLoadResult = { sent: number; failures: number; p50: number; p99: number; max: number }

const CONNECTIONS = 64
const TICK_MILLISECONDS = 1
/** Seconds at the start that do not count, because this process is slow then. */
const WARM_UP_SECONDS = 1

if (process.argv[2] !== undefined)
  console.log(JSON.stringify(await sendAll(JSON.parse(readFileSync(process.argv[2], 'utf8')))))

async function sendAll({ url, rate, seconds, bodies }: OpenLoad): Promise<OpenLoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'fifo' })
  const times: number[] = []
  let failures = 0
  const warmUpRequests = rate * WARM_UP_SECONDS
  const total = warmUpRequests + rate * seconds
  const startedAt = performance.now()
  let sentCount = 0
  let completed = 0
  await new Promise<void>((done) => {
    const timer = setInterval(() => {
      const dueCount = Math.min(total, Math.floor(((performance.now() - startedAt) / 1000) * rate))
      for (; sentCount < dueCount; sentCount++)
        send(startedAt + (sentCount / rate) * 1000, bodies[sentCount % bodies.length]!, sentCount >= warmUpRequests)
      if (sentCount === total) clearInterval(timer)
    }, TICK_MILLISECONDS)
    function send(dueAt: number, body: { query: string }, isMeasured: boolean): void {
      const finish = (isRight: boolean): void => {
        if (isMeasured) times.push(performance.now() - dueAt)
        if (!isRight) failures++
        if (++completed === total) done()
      }
      const sent = request(
        url,
        { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
        (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (piece) => (text += piece))
          response.on('end', () => finish(response.statusCode === 200 && text.includes(`"query":"${body.query}"`)))
        },
      )
      sent.on('error', () => finish(false))
      sent.end(JSON.stringify(body))
    }
  })
  agent.destroy()
  return {
    sent: times.length,
    failures,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    max: Math.max(...times),
  }
}
