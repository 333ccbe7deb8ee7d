/** OWASP API7:2023, server side request forgery: no request makes the server connect to, or link to, what it names. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, test } from 'node:test'
import { visit } from '../app/sessions.ts'
import { TESTER } from '../tester.ts'
import { until } from '../until.ts'
import { pageServer, SITE } from './page-server.ts'

const { world, mailbox, get, post } = await pageServer()
let connections = 0
const canary = createServer((socket) => {
  connections++
  socket.destroy()
})
canary.listen(0, '127.0.0.1')
await once(canary, 'listening')
after(() => canary.close())
const { port } = canary.address() as AddressInfo

const TARGETS = [
  `http://127.0.0.1:${port}/`,
  `127.0.0.1:${port}`,
  `//127.0.0.1:${port}`,
  `http://a.example@127.0.0.1:${port}`,
  `localhost:${port}`,
  `[::1]:${port}`,
]

test('no endpoint, path or field makes the server connect to an address that it names', async () => {
  const { account, token } = await world.account({ plan: 'local' })
  const { headers } = await visit(world, account)
  for (const target of TARGETS) {
    for (const endpoint of ['lookup', 'redirect', 'reverseip', 'dnshistory', 'similar']) {
      await post(`/v1.0/${endpoint}`, { token, query: target })
      await post(`/app/api/${endpoint}`, { query: target }, headers)
    }
    for (const path of [`/domain/${encodeURIComponent(target)}`, `/ip/${encodeURIComponent(target)}`])
      await get(path, { ...headers, Accept: 'application/json' })
    await post('/app/tokens', { name: target }, headers)
    await post('/webhooks', { url: target }, headers)
    await post('/app/sign-up', { email: `a@${target}` })
    await post('/app/sign-up', { email: `a@[127.0.0.1:${port}]` })
    await get('/', { Referer: target, 'X-Forwarded-Host': target, 'X-Forwarded-For': target })
  }
  await post('/v1.0/lookup', { token, query: 'a.example' }) // comes after all of them
  assert.equal(connections, 0)
})

test('links in mail name the public address, whatever the request says', async () => {
  const { account } = await world.account()
  await world.store.ledger.as(TESTER).setPassword(account.id, 'x', null, world.clock.now)
  const forged = { 'X-Forwarded-Host': 'evil.test', 'X-Forwarded-Proto': 'http', Forwarded: 'host=evil.test' }
  assert.equal((await post('/app/password/forgot', { email: account.email }, forged)).status, 202)
  const mail = await until(() => mailbox.received.find(({ to }) => to.includes(account.email)))
  assert.ok(mail.text.includes(`${SITE}/reset#code=`))
  assert.doesNotMatch(mail.text, /evil/)
})
