/**
 * A process that asks /lookup at an even rate, whatever the answers take; a request's time runs from when it was due.
 */

import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { quantile } from '../measure/measure.ts'

/** `bodies`: what is asked, one after another. Each answer must be 200 and be about what was asked. */
export type OpenLoad = {
  url: string
  rate: number
  seconds: number
  bodies: readonly { token: string; query: string }[]
}
/** Milliseconds. */
export type OpenFigures = { asked: number; failures: number; p50: number; p99: number; most: number }

const CONNECTIONS = 64
const TURN_MILLISECONDS = 1
/** Seconds at the beginning that do not count: this process, not the server, is slow then. */
const WARM_SECONDS = 1

if (process.argv[2] !== undefined)
  console.log(JSON.stringify(await load(JSON.parse(readFileSync(process.argv[2], 'utf8')))))

async function load({ url, rate, seconds, bodies }: OpenLoad): Promise<OpenFigures> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'fifo' })
  const times: number[] = []
  let failures = 0
  const warm = rate * WARM_SECONDS
  const total = warm + rate * seconds
  const begun = performance.now()
  let asked = 0
  let answered = 0
  await new Promise<void>((done) => {
    const turn = setInterval(() => {
      const due = Math.min(total, Math.floor(((performance.now() - begun) / 1000) * rate))
      for (; asked < due; asked++) ask(begun + (asked / rate) * 1000, bodies[asked % bodies.length]!, asked >= warm)
      if (asked === total) clearInterval(turn)
    }, TURN_MILLISECONDS)
    function ask(due: number, body: { query: string }, counts: boolean): void {
      const finish = (isRight: boolean): void => {
        if (counts) times.push(performance.now() - due)
        if (!isRight) failures++
        if (++answered === total) done()
      }
      const sent = request(
        url,
        { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8').on('data', (piece) => (text += piece))
          answer.on('end', () => finish(answer.statusCode === 200 && text.includes(`"query":"${body.query}"`)))
        },
      )
      sent.on('error', () => finish(false))
      sent.end(JSON.stringify(body))
    }
  })
  agent.destroy()
  return {
    asked: times.length,
    failures,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    most: Math.max(...times),
  }
}
