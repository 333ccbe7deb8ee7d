/** Commands about the past: records as of a date, who was on addresses, websites and redirects, from the local store. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { look, ok, site } from '../../spec/observations.ts'
import { folderOf } from '../run.ts'

const EXAMPLE = new URL('../../../docs/example.jsonl', import.meta.url).pathname
const { run } = folderOf({ after })

before(async () => {
  assert.equal((await run(['import', '-'], { input: readFileSync(EXAMPLE, 'utf8') })).code, 0)
})

const rowsOf = async (...args: string[]) => {
  const { code, stdout, stderr } = await run(args)
  return { code, stderr, rows: stdout.trim().split('\n').filter(Boolean) }
}

test('domain --at prints the records that were the newest on that date, and domain those of now', async () => {
  const past = await rowsOf('domain', 'example.com', '--at', '2025-06-01', '--csv')
  assert.deepEqual(past.rows.slice(0, 3), [
    'query,ip,type,since,last_seen,record',
    'example.com,v4only,A,2025-03-01T04:20:00Z,2025-03-01T04:20:00Z,192.0.2.10',
    'example.com,v4only,MX,2025-03-01T04:20:00Z,2025-03-01T04:20:00Z,10 mx.example.net',
  ])
  const now = await rowsOf('domain', 'https://www.example.com/', '--fields', 'query,type,records')
  assert.equal(now.rows[0], '{"query":"example.com","type":"A","records":[{"ipv4_address":"198.51.100.7"}]}')
  assert.match(now.stderr, /www\.example\.com/)
})

test('ip prints who was on an address or a network, now and in the past, or in a time', async () => {
  const fields = ['--fields', 'query,target,first_seen']
  const network = await rowsOf('ip', '192.0.2.0/24', ...fields)
  assert.deepEqual(network.rows, [
    '{"query":"192.0.2.0/24","target":"example.com","first_seen":"2025-03-01T04:20:00Z"}',
  ])
  const address = await rowsOf('ip', '198.51.100[.]7', '--fields', 'target')
  assert.equal(address.rows.length, 3)
  assert.deepEqual((await rowsOf('ip', '2001:db8::/32', '--at', '2025-01-01', '--fields', 'target')).rows, [
    '{"target":"neighbour.example"}',
  ])
  assert.equal((await rowsOf('ip', '192.0.2.10', '--from', '2026-01-01')).code, 3)
})

test('a page of rows continues with the options of its time', async () => {
  const { stderr, rows } = await rowsOf('ip', '198.51.100.7', '--to', '2026-11-19', '--limit', '1', '--json')
  assert.deepEqual([rows.length, stderr.includes('continue with --to 2026-11-19 --next ')], [1, true])
})

test('webhistory prints the states of a website, and redirecthistory what redirected to it, also in a time', async () => {
  const states = await rowsOf('webhistory', 'old.example.org', 'www.example.com', '--fields', 'query,redirects_to')
  assert.deepEqual(states.rows, [
    '{"query":"old.example.org","redirects_to":"example.com"}',
    '{"query":"example.com","redirects_to":null}',
  ])
  assert.match(states.stderr, /Nothing is on record for www\.example\.com/)
  const fields = ['--fields', 'target,redirect_host']
  const past = await rowsOf('redirecthistory', 'example.com', '--at', '2026-11-18', ...fields)
  assert.equal(past.rows[2], '{"target":"old.example.org","redirect_host":"www.example.com"}')
  const page = await rowsOf('redirecthistory', 'example.com', '--to', '2026-11-19', '--limit', '1', '--json')
  assert.match(page.stderr, /continue with --to 2026-11-19 --next /)
  assert.equal((await rowsOf('redirecthistory', 'example.com', '--to', '2025-01-01')).code, 3)
})

test('certificate prints who presented one, certificatehistory what a domain presented, namedcertificates what names it', async () => {
  const sha256 = 'ab'.repeat(32)
  const times = { not_before: '2026-10-01T00:00:00Z', not_after: '2026-12-30T00:00:00Z' }
  const certificate = { sha256, issuer: 'CN=R11', ...times, names: ['certified.example'], key: 'ec-p256' }
  const line = JSON.stringify(look('certified.example', { web: site({ certificate }) }))
  assert.equal((await run(['import', '-'], { input: line })).code, 0)
  const presented = await rowsOf('certificate', sha256.toUpperCase(), '--fields', 'query,target,issuer')
  assert.deepEqual(presented.rows, [`{"query":"${sha256}","target":"certified.example","issuer":"CN=R11"}`])
  const shown = await rowsOf('certificatehistory', 'certified.example', '--fields', 'sha256,key')
  assert.deepEqual(shown.rows, [`{"sha256":"${sha256}","key":"ec-p256"}`])
  const naming = await rowsOf('namedcertificates', 'www.certified.example', '--fields', 'query,name,sha256')
  assert.deepEqual(naming.rows, [`{"query":"certified.example","name":"certified.example","sha256":"${sha256}"}`])
  assert.match(naming.stderr, /www\.certified\.example/)
  assert.equal((await rowsOf('certificate', 'cd'.repeat(32))).code, 3)
})

test('given a store whose older history was removed, ip and redirecthistory say so if the time reaches back further', async (t) => {
  const pruned = folderOf({ after: (work) => t.after(work) })
  const lines = [
    look('moved.example', { dns: ok({ A: ['192.0.2.1'] }) }, '2020-03-01T00:00:00Z'),
    look('moved.example', { dns: ok({ A: ['192.0.2.2'] }) }, '2020-04-01T00:00:00Z'),
  ]
  const input = lines.map((line) => JSON.stringify(line)).join('\n')
  assert.equal((await pruned.run(['import', '-'], { input })).code, 0)
  const before = await pruned.run(['ip', '192.0.2.2'])
  assert.deepEqual([before.code, before.stderr], [0, ''])
  assert.equal((await pruned.run(['prune'], { env: { DOMAINDEX_KEEP_HISTORY: 'A:1y' } })).code, 0)
  const note = /History from before 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ was removed: earlier rows may be missing/
  assert.match((await pruned.run(['ip', '192.0.2.2'])).stderr, note)
  assert.doesNotMatch((await pruned.run(['ip', '192.0.2.2', '--from', '2026-11-20'])).stderr, /History/)
})

test('wrong times and queries are refused', async () => {
  assert.match(
    (await rowsOf('ip', '192.0.2.1', '--at', '2026-01-01', '--to', '2026-02-01')).stderr,
    /cannot be used with/,
  )
  assert.match((await rowsOf('domain', 'example.com', '--at', 'today')).stderr, /"at" must be a valid day/)
  assert.match((await rowsOf('ip', 'example.com')).stderr, /neither a domain, nor one address/)
})
