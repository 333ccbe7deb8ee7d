/** Tests the deliveries of a real `domaindex serve`: imports are sent to a receiver, also after its process is killed. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { makeAccount, serverOf } from '../api/server.ts'
import { until } from '../until.ts'

test('serve sends each event of an import to a webhook, also if the process that sends is killed, and shuts down in order', async (t) => {
  const received: { headers: Record<string, string>; body: string }[] = []
  const receiver = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    received.push({ headers: request.headers as Record<string, string>, body })
    response.writeHead(204).end()
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.after(() => receiver.close())
  const { serve, run, path, withStore } = serverOf(t)
  const { token } = await withStore((store) => makeAccount(store, 'free'))
  const env = { DOMAINDEX_DELIVERIES: 'on', DOMAINDEX_WEBHOOK_PRIVATE: 'on', DOMAINDEX_WORKERS: '1' }
  const { address, process: server, log, outcome } = await serve(env)
  const send = async (to: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const response = await fetch(`${address}/${to}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await response.json()) as Record<string, unknown>
  }
  const addresses = { port: (receiver.address() as AddressInfo).port }
  await send('watches', { kind: 'suffix', value: 'a.example' })
  const { id, secret } = await send('webhooks', { url: `http://localhost:${addresses.port}/secret-path` })
  const bring = async (first: number) => {
    const lines = Array.from({ length: 5 }, (_, n) => ({
      domain: `n${first + n}.a.example`,
      observed_at: '2026-11-20T10:00:00Z',
      dns: { status: 'ok', A: ['192.0.2.1'] },
    }))
    writeFileSync(path('seen.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    assert.equal((await run(['import', path('seen.jsonl')])).code, 0)
  }
  const names = () =>
    new Set(
      received.flatMap(({ headers, body }) => {
        const message = new Webhook(String(secret)).verify(body, headers) as { type: string; data: { name: string } }
        return message.type === 'watch.event' ? [message.data.name] : []
      }),
    )
  const result = await send(`webhooks/${id}/test`, {})
  assert.deepEqual([result.delivered, result.status], [true, 204])
  await bring(0)
  await until(() => names().size === 5)
  const started = () => log().filter(({ msg }) => msg === 'deliveries started')
  process.kill(started()[0].pid, 'SIGKILL')
  await bring(5)
  await until(() => names().size === 10)
  assert.equal(started().length, 2)
  const port = log().find(({ msg }) => msg === 'admin listener started')!.port
  await until(async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    return text.includes('domaindex_webhooks{state="active"} 1') && /messages_total\{outcome="sent"\} 1[01]/.test(text)
  })
  server.kill('SIGTERM')
  assert.equal((await outcome).code, 0)
  assert.equal(log().filter(({ msg }) => msg === 'deliveries stopped').length, 1)
  assert.ok(!(await outcome).stderr.includes('secret-path'), 'no log has the URL')
})
