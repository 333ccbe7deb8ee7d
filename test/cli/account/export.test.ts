/** Tests `domaindex account export` and `account delete`: what the document has, and what a deletion removes. */

import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { ingest } from '../../../src/store/ingest.ts'
import type { Day } from '../../../src/values/time.ts'
import { dns, seen } from '../../store/conformance/world.ts'
import { folderOf } from '../run.ts'

const ANN = 'ann@example.com'
const SECRETS = [
  'password-hash',
  'c2VjcmV0',
  Buffer.alloc(32, 7).toString('base64'),
  Buffer.alloc(32, 7).toString('hex'),
]

/** A store with an account that has something in each part of the document. */
async function fill({ run, withStore }: ReturnType<typeof folderOf>): Promise<number> {
  const { stdout } = await run(['account', 'create', ANN, '--plan', 'premium', '--addon', 'export', '--json'])
  const { id } = JSON.parse(stdout)
  await withStore(async (store) => {
    const { ledger } = store
    const now = await store.now()
    const day = '2026-11-20' as Day
    const [token] = await ledger.tokens(id)
    const hash = new Uint8Array(32).fill(7)
    await ledger.recordUsage([{ account: id, token: token!.id, endpoint: 'lookup', day, calls: 3, lastCall: now }])
    await ledger.payForFile({ account: id, day, limit: 99, holder: 'a test', file: '2026-11-19.txt.gz' })
    await ledger.as({ user: 'a test', origin: 'a test' }).setPassword(id, 'password-hash', null, now)
    await ledger.createSession({ account: id, hash, browser: 'Firefox', address: '198.51.100.7' }, now)
    await ledger.createWatch(9, id, { kind: 'suffix', value: 'example', threshold: null, types: null }, now)
    await ledger.createWebhook(
      9,
      id,
      { url: 'https://hook.example/', watches: null, key: { number: 1, bytes: hash }, seen: 0 },
      now,
    )
    await ledger.setDigest(id, { period: 'daily', due: now + 60, key: hash, seen: 0 })
    await ledger.replaceFeed(id, hash, now)
    await ingest(store, [seen('a.example', 1, dns({ A: ['192.0.2.1'] })), seen('b.example', 1, dns({}))])
  })
  return id
}

test('export writes everything about an account and no secret, and is in the audit log', async (t) => {
  const folder = folderOf(t)
  const { run, path } = folder
  const id = await fill(folder)
  const { code, stdout } = await run(['account', 'export', ANN])
  const document = JSON.parse(stdout)
  assert.equal(code, 0)
  assert.match(document.exported, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.deepEqual(
    [document.account.id, document.account.email, document.account.plan, document.has_password],
    [id, ANN, 'premium', true],
  )
  assert.match(document.account.created, /Z$/)
  assert.deepEqual(document.usage, [{ day: '2026-11-20', endpoint: 'lookup', token: document.tokens[0].id, calls: 3 }])
  assert.deepEqual(document.budgets, [{ day: '2026-11-20', used: 1 }])
  assert.deepEqual(document.paid_files, [{ day: '2026-11-20', file: '2026-11-19.txt.gz' }])
  assert.deepEqual([document.sessions[0].browser, document.sessions[0].address], ['Firefox', '198.51.100.7'])
  assert.deepEqual([document.watches[0].value, document.webhooks[0].url], ['example', 'https://hook.example/'])
  assert.deepEqual([document.digest.period, document.webhooks[0].deliveries], ['daily', []])
  assert.match(document.feed_created, /Z$/)
  assert.deepEqual(document.events.map((event: { name: string }) => event.name).sort(), ['a.example', 'b.example'])
  const actions = document.audit.map((entry: { action: string }) => entry.action)
  assert.deepEqual(actions, ['account.create', 'token.create', 'account.password', 'account.export'])
  for (const secret of SECRETS) assert.ok(!stdout.includes(secret), secret)
  assert.ok(!/"(hash|key|sealed)":/.test(stdout))

  const saved = await run(['account', 'export', ANN, '--out', 'ann.json.gz', '--json'])
  assert.deepEqual(JSON.parse(saved.stdout), { exported: ANN, account: id, out: 'ann.json.gz' })
  assert.equal(statSync(path('ann.json.gz')).mode & 0o777, 0o600)
  assert.deepEqual(JSON.parse(gunzipSync(readFileSync(path('ann.json.gz'))).toString()).events, document.events)
  assert.match((await run(['account', 'export', ANN, '--json'])).stderr, /--json needs --out/)
  assert.deepEqual([(await run(['account', 'export', 'bob@example.com'])).code], [1])
})

test('delete removes the events of an account, and of those that were deleted without them', async (t) => {
  const folder = folderOf(t)
  const { run, withStore } = folder
  const id = await fill(folder)
  const { stdout } = await run(['account', 'create', 'bob@example.com', '--json'])
  await withStore(async ({ ledger }) => {
    await ledger.as({ user: 'a test', origin: 'the operator API' }).deleteAccount(id, true)
  })
  await withStore(async ({ events }) => assert.equal((await events.events(id, 0, 9)).length, 2))
  assert.equal((await run(['account', 'delete', 'bob@example.com', '--erase', '--yes'])).code, 0)
  await withStore(async ({ events }) => assert.deepEqual(await events.events(id, 0, 9), []))
  assert.equal((await run(['account', 'export', 'bob@example.com'])).code, 1)
  assert.notEqual(JSON.parse(stdout).id, id)
})
