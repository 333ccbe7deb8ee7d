/** A process that applies the same load as load.lua with autocannon, for machines without wrk. */

import { readFileSync } from 'node:fs'
import autocannon from 'autocannon'

const { BODIES, GZIP, URL: url, CONNECTIONS, SECONDS } = process.env
const headers = { 'content-type': 'application/json', ...(GZIP === '1' ? { 'accept-encoding': 'gzip' } : {}) }
const bodies = readFileSync(BODIES!, 'utf8').trim().split('\n')
let next = 0
/** Sets the next body. A list of all requests instead would be prepared for each connection, which takes seconds. */
const setupRequest = (request: object) => ({ ...request, body: bodies[next++ % bodies.length] })
const result = await autocannon({
  url,
  connections: Number(CONNECTIONS),
  duration: Number(SECONDS),
  requests: [{ method: 'POST', headers, setupRequest }],
})
const { requests, latency, non2xx, errors, duration, throughput } = result
console.log(
  JSON.stringify({
    requests: requests.total,
    seconds: duration,
    bytes: throughput.total,
    failures: non2xx + errors,
    mean: latency.average,
    p50: latency.p50,
    p99: latency.p99,
  }),
)
