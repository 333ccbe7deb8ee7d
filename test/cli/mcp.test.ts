/** `domaindex mcp` with the client of the protocol's library: over the local store, and over a server. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { MCP_TOOLS } from '../../src/api/mcp/mcp-server.ts'
import { refusalOf, resultOf } from '../api/mcp/tools.ts'
import { hosted, redirecting } from '../spec/observations.ts'
import { makeWorld } from '../spec/world.ts'
import { folderOf } from './run.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/domaindex.js', import.meta.url))

async function connected(args: readonly string[], env: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const command = { command: process.execPath, args: [PROGRAM, 'mcp', ...args] }
  await client.connect(new StdioClientTransport({ ...command, env: { PATH: process.env.PATH!, ...env } }) as never)
  return client
}
type Rows = { rows: { target: string }[]; next: string | null }

test('over the local store, without an account', async (t) => {
  const { run, path } = folderOf(t)
  const lines = [hosted('one.example', ['192.0.2.1']), hosted('two.example', ['192.0.2.1'])]
  await run(['import', '-'], { input: lines.map((line) => JSON.stringify(line)).join('\n') })
  const client = await connected([], { DOMAINDEX_STORE: `sqlite:${path('store.db')}` })
  assert.equal((await client.listTools()).tools.length, MCP_TOOLS.length)
  const found = await resultOf<{ rows: { name: string }[] }>(client, 'search_names', { q: 'one.*', tld: 'example' })
  assert.deepEqual(
    found.rows.map(({ name }) => name),
    ['one.example'],
  )
  const { rows, next } = await resultOf<Rows>(client, 'find_neighbours', { query: 'one.example' })
  assert.deepEqual([rows.map(({ target }) => target), next], [['two.example'], null])
  assert.match(await refusalOf(client, 'look_up_domain', { domain: 'unknown.example' }), /^404 no_data: /)
  assert.match(await refusalOf(client, 'registered_on', { date: '2026-11-18' }), /^404 no_data: /)
  for (const date of ['yesterday', '18.11.2026', '2026-02-30', ''])
    assert.match(await refusalOf(client, 'registered_on', { date }), /^400 date_(format|missing): /, date)
  await client.close()
})

test('over a server, with the token of a file', async (t) => {
  const world = await makeWorld()
  const { token } = await world.account()
  await world.ingest(redirecting('source.example', 'target.example'))
  const { path } = folderOf(t)
  writeFileSync(path('token'), `${token}\n`, { mode: 0o600 })
  const client = await connected(['--server', world.address, '--token-file', path('token')], {})
  const { rows } = await resultOf<Rows>(client, 'find_redirects_to', { domain: 'target.example' })
  assert.deepEqual(rows, [{ target: 'source.example' }])
  assert.match(await refusalOf(client, 'dns_history', { domain: 'target.example' }), /^403 plan_required: /)
  await client.close()
})

test('without a store it says what is missing', async (t) => {
  const { run } = folderOf(t)
  const { code, stderr } = await run(['mcp'])
  assert.notEqual(code, 0)
  assert.match(stderr, /^domaindex: there is no store/)
})
