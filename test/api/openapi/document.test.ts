/** The OpenAPI document: valid, and in agreement with the server. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pageHandlers } from '../../../src/api/api.ts'
import type { ApiContext } from '../../../src/api/context/context.ts'
import { Type } from '../../../src/api/endpoints/schema.ts'
import type { ApiResponse } from '../../../src/api/http/response.ts'
import { STATUS as SPECIFIED_STATUS } from '../../spec/errors.ts'
import { makeWorld } from '../../spec/world.ts'

/** Outside /v1.0/, a session can take the place of a token, and there are batches. */
const STATUS = {
  ...SPECIFIED_STATUS,
  session_missing: 401,
  origin_refused: 403,
  batch_invalid: 400,
  certificate_format: 400,
  search_invalid: 400,
  brand_invalid: 400,
  value_invalid: 400,
  not_found: 404,
  conflict: 409,
}

const REDOCLY = fileURLToPath(new URL('../../../node_modules/@redocly/cli/bin/cli.js', import.meta.url))

/** For a file that has changed, and for a range that it does not have. */
const BODILESS = ['412', '416']

type Schema = { enum?: string[]; properties?: Record<string, Schema> }
type Content = Record<string, { schema: Schema }>
type Operation = { responses: Record<string, { headers?: Record<string, unknown>; content?: Content }> }
type Document = { openapi: string; paths: Record<string, Record<string, Operation>> }

const world = await makeWorld()
const text = await (await fetch(`${world.address}/openapi.json`)).text()
const document: Document = JSON.parse(text)

test('outside /v1.0/, the text about a missing token names the header Authorization', () => {
  const textOf = (path: string, method: string): string =>
    (document.paths[path]![method]!.responses['401'] as { description: string }).description
  for (const path of ['/domain/{name}', '/ip/{address}', '/certificate/{sha256}', '/pdns/query/{query}'])
    assert.match(textOf(path, 'get'), /`token_missing`: [^`]*"Authorization: Bearer TOKEN"/, path)
  assert.match(textOf('/batch', 'post'), /"Authorization: Bearer TOKEN"/)
  assert.match(textOf('/v1.0/lookup', 'get'), /`token_missing`: [^`]*send it as "token"/)
})

test('an object requires its properties that are not optional, and the mark is not in the JSON', () => {
  const number = Type.Optional(Type.Integer({ minimum: 1 }))
  assert.equal(
    JSON.stringify(Type.Object({ name: Type.String(), number }, { additionalProperties: false })),
    '{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"number":{"type":"integer","minimum":1}},"additionalProperties":false}',
  )
  assert.equal('required' in Type.Object({ number }), false)
})

test('the document is valid OpenAPI 3.1', async (t) => {
  assert.equal(document.openapi, '3.1.0')
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-openapi-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'openapi.json')
  await writeFile(path, text)
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  // /healthz has no 4xx: no request for it can be wrong
  const args = [REDOCLY, 'lint', '--max-problems=100', '--skip-rule=operation-4xx-response', path]
  const { stderr } = await promisify(execFile)(process.execPath, args, { env, cwd: folder })
  assert.doesNotMatch(stderr, /warning/i)
})

test('every page of the server except the document itself is documented', () => {
  const pages = Object.keys(pageHandlers({} as ApiContext, '', {} as ApiResponse))
  assert.deepEqual(
    pages.filter((path) => document.paths[path] === undefined),
    ['/openapi.json'],
  )
})

test('every documented path and method is answered, and none as an unknown endpoint', async () => {
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const method of Object.keys(operations)) {
      const response = await fetch(`${world.address}${path}`, { method: method.toUpperCase() })
      assert.doesNotMatch(await response.text(), /endpoint_unknown/, `${method} ${path}`)
    }
  }
})

test('Observed-At is documented for the four queries about one domain and for its profiles, and for nothing else', () => {
  const observed = Object.entries(document.paths).filter(([, operations]) =>
    Object.values(operations).some(({ responses }) => responses['200']?.headers?.['Observed-At'] !== undefined),
  )
  const expected = ['lookup', 'redirect', 'reverseip', 'dnshistory'].map((name) => `/v1.0/${name}`)
  expected.push('/domain/{name}', '/domain/{name}/web', '/domain/{name}/certificates')
  assert.deepEqual(observed.map(([path]) => path).sort(), expected.sort())
})

test('the document has every error of the specification that a known path can give, and no other', () => {
  const known = new Set<string>()
  for (const { responses } of Object.values(document.paths).flatMap((operations) => Object.values(operations))) {
    for (const [status, { content }] of Object.entries(responses)) {
      if (Number(status) < 400 || Number(status) === 503 || BODILESS.includes(status)) continue
      const { schema } = content!['application/json'] ?? {}
      if (schema === undefined) {
        assert.match(Object.keys(content!).join(), /^text\/(plain|html)$/, status)
        continue
      }
      const { error } = (schema.properties!.result ?? schema).properties!
      for (const key of error!.enum!) {
        assert.equal(STATUS[key as keyof typeof STATUS], Number(status))
        known.add(key)
      }
    }
  }
  const expected = Object.keys(STATUS).filter((key) => key !== 'endpoint_unknown')
  assert.deepEqual([...known].toSorted(), expected.toSorted())
})
