/** No password, code, session, CSRF token, API token or secret of a link appears in the log, at any level. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { createSignInLink } from '../../src/api/auth/sign-in-link.ts'
import { createWorldApi } from '../api/world-api.ts'
import { openMailbox } from '../app/mailbox.ts'
import { makeWorld } from '../spec/world.ts'
import { until } from '../until.ts'

const EMAIL = 'ann@example.com'
const PASSWORDS = ['correct horse battery', 'another horse battery', 'a third horse battery'] as const

const mailbox = await openMailbox()
after(mailbox.close)
const world = await makeWorld()
let log = ''
const { app } = await createWorldApi(world, {
  mail: { smtp: mailbox.url, from: 'service@domains.test', publicUrl: 'https://domains.test' },
  log: pino({ level: 'trace' }, { write: (line) => (log += line) }),
})
const address = await app.listen({ host: '127.0.0.1', port: 0 })
after(() => app.close())

/** Everything that must not be in the log. */
const secrets = new Set<string>([...PASSWORDS, ...PASSWORDS.map(encodeURIComponent)])

const keep = (secret: string | undefined): string => {
  assert.ok(secret !== undefined && secret.length >= 16, `no secret: ${secret}`)
  secrets.add(secret)
  return secret
}

async function send(path: string, body?: object, headers: Record<string, string> = {}) {
  const method = body === undefined ? 'GET' : 'POST'
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await fetch(address + path, init)
  const text = await response.text()
  const cookie = /=([\w-]{43})/.exec(response.headers.get('set-cookie') ?? '')?.[1]
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, body: isJson ? JSON.parse(text) : null, cookie }
}
const mailedCode = async (page: string): Promise<string> => {
  const pattern = new RegExp(`/${page}#code=([\\w-]{43})`)
  return keep(await until(() => mailbox.received.map(({ text }) => pattern.exec(text)?.[1]).findLast(Boolean), page))
}

test('the log of all paths that take or give a secret has none of them', async () => {
  await send('/app/sign-up', { email: EMAIL })
  const code = await mailedCode('verify')
  const verified = await send('/app/verify', { code, password: PASSWORDS[0] })
  keep(verified.cookie)
  await send('/app/verify', { code, password: PASSWORDS[0] })
  await send('/app/sign-in', { email: EMAIL, password: PASSWORDS[1] })
  await send(`/app/sign-in?password=${encodeURIComponent(PASSWORDS[1])}`, { email: EMAIL, password: 7 })
  const signedIn = await send('/app/sign-in', { email: EMAIL, password: PASSWORDS[0] })
  const session = {
    Cookie: `__Host-domaindex=${keep(signedIn.cookie)}`,
    'X-CSRF-Token': keep(signedIn.body.csrf),
  }
  assert.equal(signedIn.status, 200)
  const created = await send('/app/tokens', { name: 'laptop' }, session)
  const token = keep(created.body.secret)
  await send(`/v1.0/lookup?query=a.example&token=${token}`)
  await send('/v1.0/lookup', { query: 'a.example', token })
  await send(`/nothing/${token}/${code}`, undefined, { Authorization: `Bearer ${token}` })
  await send('/account/quota', undefined, { Authorization: `Bearer ${token}` })
  await send('/pdns/query/a.example', undefined, { Authorization: `Basic ${keep(btoa(`me:${token}`))}` })
  await send('/dnsdb/v2/lookup/rdata/ip/192.0.2.1', undefined, { 'X-API-Key': token })
  await send(`/dnsdb/v2/nothing/${token}`, undefined, { 'X-API-Key': token })
  const rotated = await send(`/app/tokens/${created.body.token.id}/rotate`, { grace_hours: 1 }, session)
  keep(rotated.body.secret)
  const changed = await send('/app/password', { current: PASSWORDS[0], password: PASSWORDS[1] }, session)
  await send('/app/password/forgot', { email: EMAIL })
  const reset = await mailedCode('reset')
  const replaced = await send('/app/password/reset', { code: reset, password: PASSWORDS[2] })
  assert.deepEqual([changed.status, replaced.status], [200, 200])
  await send('/app/setup', { code: reset, email: 'b@example.com', password: PASSWORDS[2] })
  const { account } = await world.account()
  const link = await createSignInLink(world.store.ledger, account.id, address, world.clock.now)
  const linkCode = keep(/code=([\w-]+)/.exec(link)?.[1])
  keep((await send('/app/sign-in/link', { code: linkCode })).cookie) // it succeeds
  await send('/app/sign-in/link', { code: linkCode })
  await send(`/sign-in?code=${linkCode}`, undefined, { Accept: 'text/html' })
  await until(() => log.split('\n').length > 18)
  assert.match(log, /"path":"\/app\/sign-in"/)
  const found = [...secrets].filter((secret) => log.includes(secret))
  assert.deepEqual(found, [])
})
