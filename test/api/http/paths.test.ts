/** Unusual paths: each is a known path or endpoint_unknown, never a fault. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unusualPath } from '../../../bench/fuzz/paths.ts'
import { requestPaths } from '../../../bench/load/path-client.ts'
import { seededRandom } from '../../../bench/world/random.ts'
import { makeWorld } from '../../spec/world.ts'

const world = await makeWorld()

test('a path that leads out of a folder, or has a backslash or a zero byte, is endpoint_unknown', async () => {
  const paths = [
    '/docs/static/../x',
    '/docs/static/../../package.json',
    '/docs/static/%2e%2e/x',
    '/docs/static/%2e%2e%2f%2e%2e%2fpackage.json',
    '/docs/static/..\\x',
    '/docs/static/%5c..%5cx',
    '/docs/static/%00',
    '/docs/static/swagger-ui.css%00',
    '/docs/static/',
    '/docs/static',
    '/docs/%2e%2e/healthz',
    '/v1.0/../healthz',
    '/v1.0/lookup/..',
    '/\\',
    '/%00',
  ]
  for (const { path, status, body } of await requestPaths(world.address, paths)) {
    assert.deepEqual([path, status, JSON.parse(body).error], [path, 404, 'endpoint_unknown'])
  }
  const file = await requestPaths(world.address, ['/files/%2e%2e%2fx', '/files/..\\x', '/files/%00'])
  for (const { path, status } of file) assert.deepEqual([path, status], [path, 401])
})

test('no arbitrary path causes a fault or a missing response', async () => {
  const paths = Array.from({ length: 500 }, (_, index) => unusualPath(seededRandom(7, index, 0)))
  for (const { path, status } of await requestPaths(world.address, paths))
    assert.ok(status >= 200 && status < 500, path)
})

test('an unknown path that cannot be decoded ends nothing', async () => {
  for (const path of ['/*/%Sff/', '/**', '/:a(', '/:a/:a', '/files/:filename']) {
    const [answer] = await requestPaths(world.address, [path])
    assert.ok(answer!.status === 404 || answer!.status === 401, path)
  }
})

test('the methods of a path with a parameter are reported too', async () => {
  const { status, headers } = await fetch(`${world.address}/files/2026-11-19.txt.gz`, { method: 'DELETE' })
  assert.deepEqual([status, headers.get('allow')?.split(', ').toSorted()], [404, ['GET', 'HEAD', 'OPTIONS']])
})
