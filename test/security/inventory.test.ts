/** OWASP API9:2023, improper inventory management: nothing answers that is not meant to. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageServer } from './page-server.ts'

const { get } = await pageServer()
const asset = /\/assets\/[\w.-]+\.js/.exec(await (await get('/')).text())![0]

for (const path of [
  '/v1/lookup',
  '/v1.1/lookup',
  '/v2.0/lookup',
  '/v1.0',
  '/v1.0/admin',
  '/v1.0/accounts',
  '/v1.0/batch',
  '/api/lookup',
  '/app',
  '/app/api',
  '/app/api/admin',
  '/app/accounts',
  '/app/debug',
  '/metrics',
  '/debug/pprof',
  '/actuator/health',
  '/server-status',
  '/graphql',
  '/swagger',
  '/swagger-ui',
  '/docs/static/index.html',
  '/openapi.yaml',
  '/.env',
  '/.git/config',
  '/package.json',
  '/web/main.tsx',
  '/src/main.ts',
  '/data/domaindex.db',
  '/assets/',
  '/assets/manifest.json',
  '/assets/..%2f..%2fpackage.json',
  '/assets/%2e%2e/package.json',
  `${asset}.map`,
  `${asset}.gz`,
  '/wp-login.php',
])
  test(`${path} is unknown, to a browser too`, async () => {
    const seen = await get(path)
    assert.equal(seen.status, 404)
    if (seen.headers.get('content-type')!.startsWith('text/html')) {
      assert.equal(await seen.text(), await (await get('/')).text())
      return
    }
    const { error } = (await seen.json()) as { error: string }
    assert.ok(['endpoint_unknown', 'no_data'].includes(error), error)
  })

test('the files of the page name no source file and no source map', async () => {
  const text = await (await get(asset)).text()
  assert.doesNotMatch(text, /sourceMappingURL/)
  assert.doesNotMatch(text, /\.tsx?\b/)
})
