/** Digests over HTTP, and their mail with a real SMTP server. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { Mailer } from '../../../src/api/context/mailer.ts'
import { sendDueDigests } from '../../../src/delivery/sending/digester.ts'
import { openMailbox } from '../../app/mailbox.ts'
import { type Known, makeWorld } from '../../spec/world.ts'

const SITE = 'https://domains.test'
const mailbox = await openMailbox()
after(mailbox.close)
const world = await makeWorld()

const send = (known: Known, method: string, path: string, body?: object) =>
  world.send(path, {
    method,
    headers: { Authorization: `Bearer ${known.token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })

test('without an SMTP server there is no digest, and a wrong period is refused', async () => {
  const known = await world.account()
  const off = { period: 'off', email: known.account.email, next: null, last: null }
  assert.deepEqual((await send(known, 'GET', '/digest')).body, off)
  assert.deepEqual((await send(known, 'PUT', '/digest', { period: 'off' })).body, off)
  const { status, body } = await send(known, 'PUT', '/digest', { period: 'daily' })
  assert.deepEqual([status, (body as { error: string }).error], [503, 'mail_unavailable'])
  assert.equal((await send(known, 'PUT', '/digest', { period: 'weekly' })).status, 400)
})

test('a digest comes by mail, and one click on the link of the mail ends it', async (t) => {
  const mail = { smtp: mailbox.url, from: 'service@domains.test', publicUrl: SITE }
  await world.serve(world.store, undefined, mail)
  const known = await world.account()
  assert.equal((await send(known, 'POST', '/watches', { kind: 'name', value: 'a.example' })).status, 201)
  const set = await send(known, 'PUT', '/digest', { period: 'daily' })
  const expected = { period: 'daily', email: known.account.email, next: '2026-11-21T06:00:00Z', last: null }
  assert.deepEqual([set.status, set.body], [200, expected])
  await world.ingest({
    domain: 'a.example',
    observed_at: '2026-11-20T10:00:00Z',
    dns: { status: 'ok', A: ['192.0.2.1'] },
  })
  world.clock.now += 86_400
  const mailer = new Mailer(mail, pino({ level: 'silent' }))
  t.after(() => mailer.close())
  const options = { store: world.store, holder: 'test', publicUrl: SITE, onFault: assert.ifError }
  await sendDueDigests({ ...options, send: (message) => mailer.send(message) })
  const [received] = mailbox.received
  assert.deepEqual(
    [received!.to, received!.subject],
    [[known.account.email], '1 change of what you watch at domains.test'],
  )
  assert.match(
    received!.text,
    /^name a\.example\n {2}2026-11-20 12:00:00 UTC a\.example: new name; A \+ 192\.0\.2\.1\n/,
  )
  const head = received!.head.replaceAll(/\r\n\s+/g, ' ')
  assert.match(head, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click$/m)
  const [, link] = /^List-Unsubscribe: <https:\/\/domains\.test(\/digest\/unsubscribe\?key=[\w-]{22})>$/m.exec(head)!
  const last = { ...expected, next: '2026-11-22T06:00:00Z', last: '2026-11-21T12:00:00Z' }
  assert.deepEqual((await send(known, 'GET', '/digest')).body, last)
  const shown = await fetch(world.address + link)
  const once = ['cache-control', 'referrer-policy'].map((name) => shown.headers.get(name))
  assert.deepEqual(once, ['private, no-store', 'no-referrer'])
  assert.match(await shown.text(), /<form method="post"><button>/)
  assert.equal(((await send(known, 'GET', '/digest')).body as { period: string }).period, 'daily')
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const post = (path: string) =>
    fetch(world.address + path, { method: 'POST', headers, body: 'List-Unsubscribe=One-Click' })
  for (const wrong of ['/digest/unsubscribe', link!.slice(0, -1), `${link}AAAA`]) {
    const refused = await post(wrong)
    assert.equal(refused.status, 404)
    assert.match(await refused.text(), /This link is not valid/)
  }
  assert.equal(((await send(known, 'GET', '/digest')).body as { period: string }).period, 'daily')
  const ended = await post(link!)
  assert.equal(ended.status, 200)
  assert.match(await ended.text(), /no more mail/)
  assert.equal(((await send(known, 'GET', '/digest')).body as { period: string }).period, 'off')
})

test('a mail that the server does not take is reported as such', async () => {
  const mailer = new Mailer(
    { smtp: 'smtp://127.0.0.1:1', from: 'a@b.example', publicUrl: SITE },
    pino({ level: 'silent' }),
  )
  assert.equal(await mailer.send({ to: 'a@example.com', subject: 'a', text: 'b' }), false)
  mailer.close()
})
