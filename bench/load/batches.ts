/** A process that sends batches of look-ups on keep-alive connections, each after the answer to the one before. */

import { readFileSync } from 'node:fs'
import { Pool } from 'undici'

const { BATCHES, URL: url, CONNECTIONS, SECONDS, GZIP } = process.env
/** Each batch has its own token, so that the load is on several accounts. */
const batches = JSON.parse(readFileSync(BATCHES!, 'utf8')) as { token: string; body: string; lines: number }[]
const { origin, pathname } = new URL(url!)
const pool = new Pool(origin, { connections: Number(CONNECTIONS), pipelining: 1 })
const end = performance.now() + 1000 * Number(SECONDS)
let next = 0
let answered = 0
let failures = 0

async function sendBatches(): Promise<void> {
  while (performance.now() < end) {
    const { token, body, lines } = batches[next++ % batches.length]!
    const headers = { authorization: `Bearer ${token}`, ...(GZIP === '1' && { 'accept-encoding': 'gzip' }) }
    const response = await pool.request({ path: pathname, method: 'POST', headers, body })
    let feeds = 0
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      if (GZIP !== '1') for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) feeds++
    }
    if (response.statusCode !== 200 || (GZIP !== '1' && feeds !== lines)) failures++
    answered += lines
  }
}

const startedAt = performance.now()
await Promise.all(Array.from({ length: Number(CONNECTIONS) }, sendBatches))
const seconds = (performance.now() - startedAt) / 1000
await pool.close()
console.log(JSON.stringify({ answered, failures, seconds }))
