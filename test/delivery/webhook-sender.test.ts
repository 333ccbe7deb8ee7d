/** Sends messages of webhooks to real receivers over HTTP and HTTPS. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { generate } from 'selfsigned'
import { Webhook } from 'standardwebhooks'
import { openWebhookSender } from '../../src/delivery/sending/webhook-sender.ts'
import { makeWebhookKey, webhookSecretText } from '../../src/delivery/webhook-key.ts'
import { eventMessage, signedHeaders, testMessage } from '../../src/delivery/webhook-message.ts'
import { webhookTargets } from '../../src/delivery/webhook-url.ts'
import type { StoredEvent } from '../../src/store/port/watch/events.ts'
import type { DomainName } from '../../src/values/domain-name.ts'

const EVENT: StoredEvent = {
  number: 1042,
  watch: 3,
  name: 'www.example.com' as DomainName,
  time: 1_795_176_007,
  observed_at: 1_795_175_998,
  differences: '[{"type":"new"}]',
}

type Received = { headers: IncomingMessage['headers']; body: string; path: string }

/** A receiver on loopback that keeps what it gets. */
async function openReceiver(t: TestContext, answer: RequestListener, tls: { key: string; cert: string } | null = null) {
  const received: Received[] = []
  const listener: RequestListener = (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body, path: request.url! })
      answer(request, response)
    })
  }
  const server = tls === null ? createServer(listener) : createTlsServer(tls, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { received, port: (server.address() as AddressInfo).port }
}

function sender(t: TestContext, allowsPrivate = true) {
  const { send, close } = openWebhookSender(webhookTargets(allowsPrivate), 'domaindex/test')
  t.after(close)
  return send
}

const answerWith =
  (status: number, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, headers).end('anything')

test('a message arrives over HTTPS with a signature that the library of Standard Webhooks accepts', async (t) => {
  const trusted = getCACertificates('default')
  const { private: privateKey, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  })
  setDefaultCACertificates([...trusted, cert])
  t.after(() => setDefaultCACertificates(trusted))
  const { received, port } = await openReceiver(t, answerWith(204), { key: privateKey, cert })
  const key = makeWebhookKey()
  const now = Math.floor(Date.now() / 1_000)
  const message = eventMessage(EVENT)
  const send = sender(t)
  const attempt = await send(`https://localhost:${port}/hook?a=1`, signedHeaders(message, key, now), message.body)
  assert.deepEqual(attempt, { isDelivered: true, status: 204, error: null, retryAfter: null })
  const [{ headers, body, path }] = received as [Received]
  assert.deepEqual(
    [path, headers['user-agent'], headers['content-type']],
    ['/hook?a=1', 'domaindex/test', 'application/json'],
  )
  assert.equal(headers['webhook-id'], `evt_1042_${EVENT.time}`)
  const verified = new Webhook(webhookSecretText(key)).verify(body, headers as Record<string, string>)
  assert.deepEqual(verified, {
    type: 'watch.event',
    timestamp: '2026-11-20T12:00:07Z',
    data: {
      ...{ id: 1042, time: '2026-11-20T12:00:07Z', watch: 3, name: 'www.example.com' },
      ...{ observed_at: '2026-11-20T11:59:58Z', differences: [{ type: 'new' }] },
    },
  })
  const other = new Webhook(webhookSecretText(makeWebhookKey()))
  assert.throws(() => other.verify(body, headers as Record<string, string>), /signature/i)
  const trial = testMessage(7, 2, now)
  await send(`https://localhost:${port}/`, signedHeaders(trial, key, now), trial.body)
  const { type, data } = new Webhook(webhookSecretText(key)).verify(
    received[1]!.body,
    received[1]!.headers as Record<string, string>,
  ) as { type: string; data: object }
  assert.deepEqual([type, data], ['webhook.test', { webhook: 7 }])
})

for (const [status, headers, error, retryAfter] of [
  [500, {}, 'HTTP status 500', null],
  [410, {}, 'HTTP status 410', null],
  [302, { Location: '/elsewhere' }, 'HTTP status 302: redirects are not followed', null],
  [429, { 'Retry-After': '120' }, 'HTTP status 429', 120],
  [503, { 'Retry-After': 'soon' }, 'HTTP status 503', null],
] as const)
  test(`the status ${status} is a failure: ${error}`, async (t) => {
    const { received, port } = await openReceiver(t, answerWith(status, headers))
    const attempt = await sender(t)(`http://127.0.0.1:${port}/`, {}, '{}')
    assert.deepEqual(attempt, { isDelivered: false, status, error, retryAfter })
    assert.equal(received.length, 1)
  })

test('a receiver that closes, or that nobody can trust or reach, is a failure that says why', async (t) => {
  const closing = await openReceiver(t, (request) => request.socket.destroy())
  const closed = await sender(t)(`http://127.0.0.1:${closing.port}/`, {}, '{}')
  assert.match(closed.error!, /^no response: /)
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])
  const untrusted = await openReceiver(t, answerWith(200), { key, cert })
  assert.match((await sender(t)(`https://localhost:${untrusted.port}/`, {}, '{}')).error!, /CERT|SELF_SIGNED/)
  assert.equal(untrusted.received.length, 0)
})

test('of a long response only the beginning is read, and its status counts', async (t) => {
  let isClosed = false
  const { port } = await openReceiver(t, (_request, response) => {
    response.on('close', () => (isClosed = true))
    response.writeHead(200)
    const write = (): void => {
      while (!isClosed && response.write('x'.repeat(65_536)));
      if (!isClosed) response.once('drain', write)
    }
    write()
  })
  assert.equal((await sender(t)(`http://127.0.0.1:${port}/`, {}, '{}')).isDelivered, true)
})

test('without the setting, no private address is connected to, whatever the URL says', async (t) => {
  const { received, port } = await openReceiver(t, answerWith(200))
  for (const url of [`http://127.0.0.1:${port}/`, `http://localhost:${port}/`, 'https://localhost/', 'https://[::1]/'])
    assert.equal((await sender(t, false)(url, {}, '{}')).error, 'it has no public address')
  assert.equal(received.length, 0)
})

test('with the setting, the addresses that no setting allows stay closed', async (t) => {
  for (const host of ['169.254.169.254', '0.0.0.0', '[fd00:ec2::254]'])
    assert.equal((await sender(t)(`http://${host}/`, {}, '{}')).error, 'it has no public address')
})
