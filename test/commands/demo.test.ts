/** `domaindex demo`, as `npm start` runs it. */

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite, test } from 'node:test'
import { makeWorld, SHOWN } from '../../src/commands/demo/world.ts'
import { RECORD_TYPES } from '../../src/words/record.ts'
import { folderOf, outcomeOf } from './run.ts'

/** Waits until a stream has said something that the pattern finds. */
async function heard(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  let text = ''
  for await (const piece of stream.setEncoding('utf8')) {
    text += piece
    if (pattern.test(text)) return text
  }
  assert.fail(`it ended after ${text}`)
}

suite('domaindex demo', { concurrency: 2 }, () => {
  test('prints an address, a token a plan and four curl lines that work, and ends at Ctrl-C', async (t) => {
    const { start, run, path } = folderOf(t)
    const child = start(['demo', '--port', '0'])
    t.after(() => child.kill('SIGKILL'))
    const said = await heard(child.stdout, /dnshistory.*\n/)
    const [, address] = /(http:\/\/127\.0\.0\.1:\d+)\/v1\.0\//.exec(said)!
    for (const plan of ['free', 'basic', 'premium']) assert.match(said, new RegExp(`^ {2}${plan} +\\S{20,}$`, 'm'))
    const lines = [...said.matchAll(/^ {2}curl -sw '\\n' (\S+) -d '(.*)'$/gm)].map(([, url, body]) => ({
      url: url!,
      body: body!,
    }))
    const endpoints = ['lookup', 'redirect', 'reverseip', 'dnshistory']
    assert.deepEqual(
      lines.map(({ url }) => url),
      endpoints.map((endpoint) => `${address}/v1.0/${endpoint}`),
    )
    for (const { url, body } of lines) {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' } // what curl -d says
      const response = await fetch(url, { method: 'POST', body, headers })
      const { meta, result } = (await response.json()) as { meta: { query: string }; result: object }
      assert.deepEqual([response.status, meta.query], [200, SHOWN])
      assert.ok(Object.keys(result).length > 0)
    }
    const store = `sqlite:${path('.demo/demo-0.db')}`
    const served = await run(['serve'], { env: { DOMAINDEX_STORE: store } })
    assert.deepEqual([served.code, /made-up world.*DOMAINDEX_STORE\n$/.test(served.stderr)], [1, true])
    child.kill('SIGINT')
    assert.deepEqual((await outcomeOf(child)).code, 0)
  })

  test('a port that is in use is told in one line, and nothing is made', async (t) => {
    const taken = createServer().listen(0, '127.0.0.1')
    t.after(() => taken.close())
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    const { run } = folderOf(t)
    const { code, stderr } = await run(['demo', '--port', String(port)])
    assert.match(stderr, /^domaindex: 127\.0\.0\.1:\d+ is in use: name another port, as in npm start -- --port \d+\n$/)
    assert.equal(code, 1)
    assert.match((await run(['demo', '--port', '65536'])).stderr, /It must be a whole number from 0 to 65535/)
  })
})

test('the made-up world is the same every time and has something of everything', () => {
  const world = makeWorld()
  assert.deepEqual(makeWorld(), world)
  const names = new Set(world.map(({ domain }) => domain))
  assert.ok(names.size > 200 && [...names].every((name) => name.endsWith('.example')))
  for (const status of ['ok', 'nxdomain', 'servfail']) assert.ok(world.some(({ dns }) => dns?.status === status))
  const shown = world.filter(({ domain }) => domain === SHOWN)
  for (const type of RECORD_TYPES)
    assert.ok(
      shown.some(({ dns }) => (dns?.records[type]?.length ?? 0) > 0),
      type,
    )
  for (const ssl of ['valid', 'invalid', 'nocert']) assert.ok(world.some(({ web }) => web?.ssl === ssl))
  assert.ok(world.filter(({ web }) => web?.redirects_to === SHOWN).length > 10)
  assert.ok(world.some(({ web }) => (web?.social_accounts.length ?? 0) > 2))
})
