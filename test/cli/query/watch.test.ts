/** `domaindex watch` over a server: creates, lists, mutes and removes watches, and prints events. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeWorld } from '../../spec/world.ts'
import { folderOf } from '../run.ts'

const world = await makeWorld()
const { run, start } = folderOf({ after })

const observe = (minute: number) =>
  world.ingest({
    domain: 'a.example',
    observed_at: `2026-11-20T10:0${minute}:00Z`,
    dns: { status: 'ok', A: [`192.0.2.${minute}`] },
  })

const linesOf = (stdout: string): Record<string, unknown>[] =>
  stdout
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

test('watches are created, listed, muted and removed, and their events are printed', async () => {
  const { token } = await world.account()
  const env = { DOMAINDEX_SERVER: world.address, DOMAINDEX_TOKEN: token }
  const watch = async (...args: string[]) => {
    const { stdout, stderr, code } = await run(['watch', ...args], { env })
    assert.equal(code, 0, stderr)
    return linesOf(stdout)
  }
  const [added] = await watch('add', 'suffix', '*.example', '--types', 'new, records')
  assert.deepEqual([added!.kind, added!.value, added!.types], ['suffix', 'example', ['new', 'records']])
  assert.deepEqual(await watch('list'), [added])
  for (const minute of [1, 2]) await observe(minute)
  const events = await watch('events')
  assert.deepEqual(
    events.map(({ watch, name }) => [watch, name]),
    [
      [added!.id, 'a.example'],
      [added!.id, 'a.example'],
    ],
  )
  assert.deepEqual(await watch('events', '--after', String(events[0]!.id)), [events[1]])
  const { stdout } = await run(['watch', 'events', '--csv', '--fields', 'name,differences'], { env })
  const [head, row] = stdout.split('\n')
  assert.equal(head, 'name,differences')
  assert.match(row!, /^a\.example,"\[\{""type"":""new""\},\{""type"":""records"",""record_type"":""A"",/)
  assert.notEqual((await watch('mute', String(added!.id)))[0]!.muted, null)
  assert.equal((await watch('mute', String(added!.id), '--off'))[0]!.muted, null)
  const preview = await watch('preview', 'name', 'a.example', '--types', 'new')
  assert.deepEqual(preview, [{ name: 'a.example', observed_at: '2026-11-20T10:01:00Z', type: 'new' }])
  const [feed] = await watch('feed')
  assert.match(String(feed!.url), new RegExp(`^${world.address}/events\\.atom\\?key=[\\w-]{43}$`))
  assert.equal((await fetch(String(feed!.url))).status, 200)
  assert.deepEqual(await watch('feed', '--revoke'), [])
  assert.equal((await fetch(String(feed!.url))).status, 401)
  const off = { period: 'off', next: null, last: null }
  for (const args of [['digest'], ['digest', 'off']])
    assert.deepEqual(
      (await watch(...args)).map(({ email: _email, ...rest }) => rest),
      [off],
    )
  assert.deepEqual(await watch('remove', String(added!.id)), [])
  assert.deepEqual(await watch('list'), [])
})

test('--follow prints further events until it is stopped', async () => {
  const { token } = await world.account()
  const env = { DOMAINDEX_SERVER: world.address, DOMAINDEX_TOKEN: token }
  await run(['watch', 'add', 'name', 'a.example'], { env })
  const child = start(['watch', 'events', '--follow', '--fields', 'name'], env)
  await observe(3)
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    assert.equal(chunk, '{"name":"a.example"}\n')
    break
  }
  child.kill('SIGINT')
})

test('without a server, and for an unknown kind, it says what to do', async () => {
  const without = await run(['watch', 'list'])
  assert.match(without.stderr, /name it with --server or DOMAINDEX_SERVER/)
  const { token } = await world.account()
  const env = { DOMAINDEX_SERVER: world.address, DOMAINDEX_TOKEN: token }
  const unknown = await run(['watch', 'add', 'names', 'a.example'], { env })
  assert.match(unknown.stderr, /"kind" must be one of name, suffix/)
  assert.notEqual(unknown.code, 0)
})
