/** OWASP API1:2023, broken object level authorization: what belongs to another account or session is out of reach. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertError, visit } from '../app/sessions.ts'
import { fetchFile, listOf, publish } from '../spec/files/files.ts'
import { makeWorld } from '../spec/world.ts'

type Files = { days: { day: string; files: { link: string }[] }[] }

const world = await makeWorld()
const DAY = '2026-11-18'
const FILE = `${DAY}.txt.gz`

before(() => publish(world, FILE, listOf('one.example')))

async function two() {
  const [mine, theirs] = [await world.account({ plan: 'local' }), await world.account({ plan: 'local' })]
  return { me: await visit(world, mine.account), them: await visit(world, theirs.account), mine, theirs }
}

async function linkOf({ read }: { read<Body>(path: string): Promise<Body> }): Promise<string> {
  const { days } = await read<Files>('/app/files?month=2026-11')
  return days.find(({ day }) => day === DAY)!.files[0]!.link
}

test('the tokens of another account cannot be listed, revoked or replaced, and look like unknown ones', async () => {
  const { me, theirs } = await two()
  const before = await world.store.ledger.tokens(theirs.account.id)
  const id = before[0]!.id
  const unknown = await me.send('/app/tokens/2147483647', 'DELETE')
  const revoked = await me.send(`/app/tokens/${id}`, 'DELETE')
  assert.deepEqual([revoked.status, revoked.text], [unknown.status, unknown.text])
  assertError(revoked, 404, 'not_found')
  assertError(await me.send(`/app/tokens/${id}/rotate`, 'POST', { grace_hours: 0 }), 404, 'not_found')
  assert.deepEqual(await world.store.ledger.tokens(theirs.account.id), before)
  const { tokens } = await me.read<{ tokens: { id: number }[] }>('/app/tokens')
  assert.ok(tokens.every((token) => token.id !== id))
})

test('the usage of another account cannot be selected', async () => {
  const { me, theirs } = await two()
  await world.ask('lookup', { token: theirs.token, query: 'unknown.example' })
  for (const query of [`account=${theirs.account.id}`, `email=${theirs.account.email}`, 'token=1']) {
    const { used, tokens } = await me.read<{ used: number; tokens: object }>(`/app/usage?${query}`)
    assert.deepEqual([used, tokens], [0, {}])
  }
})

test('a download link is of no use to another account', async () => {
  const { me, them } = await two()
  const link = await linkOf(them)
  const seen = await fetchFile(world, link, { headers: { Cookie: me.headers.Cookie! } })
  assert.deepEqual([seen.status, JSON.parse(seen.bytes.toString()).error], [400, 'link_invalid'])
  assert.equal((await fetchFile(world, link, { headers: { Cookie: them.headers.Cookie! } })).status, 200)
})

test('a download link is of no use in another session of the account, or without one', async () => {
  const { me, mine } = await two()
  const link = await linkOf(me)
  const other = await visit(world, mine.account)
  const inOther = await fetchFile(world, link, { headers: { Cookie: other.headers.Cookie! } })
  assert.deepEqual([inOther.status, JSON.parse(inOther.bytes.toString()).error], [400, 'link_invalid'])
  const without = await fetchFile(world, link)
  assert.deepEqual([without.status, JSON.parse(without.bytes.toString()).error], [401, 'session_missing'])
  const bearer = await fetchFile(world, link, { headers: { Authorization: `Bearer ${mine.token}` } })
  assert.equal(bearer.status, 401)
})

test('a file that the account may not fetch has neither a link nor a row, and its name alone gives nothing', async () => {
  const { account, token } = await world.account({ periods: ['basic:2026-11-19..'] })
  const me = await visit(world, account)
  await publish(world, '2026-11-16.txt.gz', listOf('one.example'))
  world.clock.ticks += 5_000
  const { days } = await me.read<Files>('/app/files?month=2026-11')
  assert.deepEqual(days.find(({ day }) => day === '2026-11-16')?.files, [])
  const { files } = await me.read<{ files: { name: string }[] }>('/files')
  assert.deepEqual(
    files.map(({ name }) => name),
    [FILE],
  )
  assertError(await me.send('/files/2026-11-16.txt.gz'), 403, 'before_subscription')
  const byToken = await world.send('/files/2026-11-16.txt.gz', { headers: { Authorization: `Bearer ${token}` } })
  assertError(byToken, 403, 'before_subscription')
  const link = days.find(({ day }) => day === DAY)!.files[0]!.link
  const seen = await fetchFile(world, link.replace(DAY, '2026-11-16'), { headers: { Cookie: me.headers.Cookie! } })
  assert.equal(seen.status, 400)
})

test('a suspended account has no session', async () => {
  const { me, mine } = await two()
  const link = await linkOf(me)
  await world.store.ledger.as({ user: 'operator', origin: 'test' }).suspendAccount(mine.account.id, world.clock.now)
  world.clock.ticks += 1_000
  for (const path of [
    '/app/tokens',
    '/app/usage',
    '/app/plan',
    '/app/files',
    '/app/api/similar',
    link,
    '/domain/a.example',
  ])
    assertError(await me.send(path), 401, 'session_missing')
})

test('a cursor of a profile belongs to the installation, and serves no other query', async () => {
  const { me } = await two()
  const crowd = Array.from({ length: 101 }, (_, n) => ({
    domain: `n${n}.example`,
    observed_at: '2026-11-20T09:00:00Z',
    dns: { status: 'ok', A: ['192.0.2.1', '192.0.2.2'] },
  }))
  await world.ingest(...crowd)
  const { next } = await me.read<{ next: string }>('/ip/192.0.2.1')
  const seen = await me.send(`/app/api/reverseip?query=192.0.2.2&next=${next}`)
  assert.equal((seen.body as { result: { error: string } }).result.error, 'cursor_mismatch')
})
