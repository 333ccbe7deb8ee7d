/**
 * Yardstick (a): a bare Fastify route that answers a POST with one fixed JSON text of FIXED_BYTES bytes. FIXED_HEADERS:
 * further headers as a JSON object.
 */

import fastify from 'fastify'

const bytes = Number(process.env.FIXED_BYTES)
const body = JSON.stringify({ meta: { rcode: 200, msg: 'ok' }, result: '' })
const text = body.replace('"result":""', `"result":"${'x'.repeat(Math.max(0, bytes - body.length))}"`)

const headers: Record<string, string> = JSON.parse(process.env.FIXED_HEADERS ?? '{}')

const app = fastify({ logger: false })
app.post('/v1.0/lookup', (_request, reply) => {
  reply.headers(headers).header('content-type', 'application/json; charset=utf-8').send(text)
})
console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
