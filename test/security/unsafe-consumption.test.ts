/** OWASP API10:2023, unsafe consumption: what sites and zones say stays text, in every response. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visit } from '../app/sessions.ts'
import { pageServer } from './page-server.ts'

const HOSTILE = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"';=HYPERLINK("http://evil.test")\u2028\u0000`
const { world, get, post } = await pageServer()
await world.ingest({
  domain: 'hostile.example',
  observed_at: '2026-11-20T00:00:00Z',
  dns: { status: 'ok', TXT: [[HOSTILE]], NS: ['ns1.hostile.example'] },
})
const { account } = await world.account({ plan: 'local' })
const { headers } = await visit(world, account)

test('a hostile record is JSON with its own type, never HTML', async () => {
  const answers = [
    await post('/app/api/dnshistory', { query: 'hostile.example' }, headers),
    await get('/domain/hostile.example', { ...headers, Accept: 'application/json' }),
  ]
  for (const answer of answers) {
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    const text = await answer.text()
    assert.ok(text.includes('alert(1)'), 'the record is there')
    assert.deepEqual(JSON.parse(JSON.stringify(JSON.parse(text))), JSON.parse(text))
  }
})

test('the document of the page is the same for every address: nothing of the address or of a record is in it', async () => {
  const plain = await (await get('/')).text()
  for (const path of [
    '/domain/hostile.example',
    `/domain/${encodeURIComponent('"><script>alert(1)</script>')}`,
    `/domain/a.example/history?type=${encodeURIComponent('</script><script>alert(1)</script>')}`,
    '/sign-in?next=javascript:alert(1)',
  ])
    assert.equal(await (await get(path)).text(), plain, path)
})

test('an error repeats a hostile query only inside JSON', async () => {
  const answer = await post('/app/api/lookup', { query: '<svg onload=alert(1)>.example' }, headers)
  assert.equal(answer.status, 400)
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  JSON.parse(await answer.text())
})
