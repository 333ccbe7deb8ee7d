/** docs/api.md describes the API completely: each endpoint, parameter, field, error and header, and nothing else. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { DEFAULT_PLAN_LIMITS, type PlanLimits } from '../../src/accounts/plan.ts'
import { typesOfKind, WATCH_KINDS } from '../../src/values/watch-kind.ts'
import { fetchFile, post, publish } from '../spec/files/files.ts'
import { makeWorld } from '../spec/world.ts'
import { codes, type Example, examples, readPage, sections, tableOf } from './markdown.ts'

type Schema = {
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: string[]
}
type Answer = { content: Record<string, { schema: Schema }> }
type Operation = { requestBody: { content: Record<string, { schema: Schema }> }; responses: Record<string, Answer> }
type Document = { paths: Record<string, { post: Operation }>; components: { headers: Record<string, unknown> } }

const world = await makeWorld()
const page = readPage('api.md')
const endpoints = sections(sections(page, 2).get('Endpoints')!, 3)
const document = (await world.send('/openapi.json', {})).body as Document
const JSON_TYPE = 'application/json'

const own = Object.keys(document.paths).filter((path) => !path.startsWith('/v1.0/'))
const names = Object.keys(document.paths).flatMap((path) => path.match(/^\/v1\.0\/(.+)$/)?.[1] ?? [])

before(async () => {
  const lines = readPage('example.jsonl').trim().split('\n')
  await world.ingest(...lines.map((line) => JSON.parse(line) as object))
  await world.index()
})

test('every endpoint has a section and a row, and nothing else has', () => {
  const expected = names.map((name) => `/${name}`)
  assert.deepEqual([...endpoints.keys()].toSorted(), expected.toSorted())
  const rows = tableOf(page, 'endpoint').map(([cell]) => codes(cell!)[0])
  assert.deepEqual(rows.toSorted(), expected.toSorted())
})

test('every kind of watch has a row, and its types are those that it can match', () => {
  const kinds = tableOf(page, '`kind`').flatMap(([cell]) => codes(cell!))
  assert.deepEqual(kinds.toSorted(), WATCH_KINDS.toSorted())
  const types = tableOf(page, 'kinds').flatMap(([cell, list]) =>
    codes(cell!).map((kind) => [kind, codes(list!).toSorted()]),
  )
  assert.deepEqual(
    Object.fromEntries(types),
    Object.fromEntries(WATCH_KINDS.map((kind) => [kind, typesOfKind(kind).toSorted()])),
  )
})

test('every path besides /v1.0/ has a row, and every row a path', async () => {
  const rows = tableOf(page, 'path').flatMap(([cell]) => codes(cell!))
  for (const path of own) assert.ok(rows.includes(path), path)
  const headers = { Authorization: 'Bearer x' }
  for (const path of rows) {
    const [method = 'get'] = Object.keys(document.paths[path] ?? {})
    const { status } = await fetch(`${world.address}${path}`, { method: method.toUpperCase(), headers })
    assert.notEqual(status, 404, path)
  }
})

for (const name of names) {
  const { requestBody, responses } = document.paths[`/v1.0/${name}`]!.post
  const section = () => endpoints.get(`/${name}`)!

  test(`/${name}: the parameters, and which of them are required`, () => {
    const { properties, required } = requestBody.content[JSON_TYPE]!.schema
    const documented = tableOf(section(), 'parameter').map(([cell, need]) => [codes(cell!)[0]!, need === 'required'])
    const declared = Object.keys(properties!).map((key) => [key, required!.includes(key)])
    assert.deepEqual(documented.toSorted(), declared.toSorted())
  })

  test(`/${name}: the fields of the response`, () => {
    const schema = responses[200]!.content[JSON_TYPE]?.schema
    const documented = tableOf(section(), 'field').flatMap(([cell]) => codes(cell!))
    assert.deepEqual(new Set(documented), new Set(schema === undefined ? [] : fieldsOf(schema)))
    assert.equal(new Set(documented).size, documented.length)
  })

  test(`/${name}: its errors and those of every endpoint`, () => {
    const list = /^Errors.*?: (.*?)\.$/ms.exec(section())?.[1] ?? ''
    const common = /Every endpoint can also return (.*?)\.$/ms.exec(page)?.[1] ?? ''
    assert.deepEqual(new Set([...codes(list), ...codes(common)]), new Set(errorsOf(responses)))
    assert.equal(/^Errors, nested inside `result`/m.test(section()), ['lookup', 'redirect', 'reverseip'].includes(name))
  })
}

/**
 * The paths of the fields, `meta.query` or `result[].target`. The record types of /dnshistory count as one, `<type>`.
 */
function fieldsOf({ properties = {} }: Schema): string[] {
  return Object.entries(properties).flatMap(([top, schema]) => {
    if (schema.items) {
      const keys = Object.keys(schema.items.properties ?? {})
      return keys.length === 0 ? [top] : keys.map((key) => `${top}[].${key}`)
    }
    if (top === 'result' && schema.properties?.SOA) {
      return Object.keys(schema.properties.SOA.items!.properties!).map((key) => `${top}.<type>[].${key}`)
    }
    return Object.keys(schema.properties!).map((key) => `${top}.${key}`)
  })
}

function errorsOf(responses: Operation['responses']): string[] {
  return Object.values(responses).flatMap(({ content }) => {
    const { properties } = content[JSON_TYPE]?.schema ?? {}
    return properties?.error?.enum ?? properties?.result?.properties?.error?.enum ?? []
  })
}

test('/dnshistory: the record types and the keys of their records', () => {
  const { result } = document.paths['/v1.0/dnshistory']!.post.responses[200]!.content[JSON_TYPE]!.schema.properties!
  const rows = tableOf(endpoints.get('/dnshistory')!, 'type')
  assert.deepEqual(rows.map(([cell]) => codes(cell!)[0]).toSorted(), Object.keys(result!.properties!).toSorted())
  for (const [type, record] of rows) {
    const keys = Object.keys(result!.properties![codes(type!)[0]!]!.items!.properties!.records!.items!.properties!)
    assert.deepEqual(codes(record!).slice(0, keys.length).toSorted(), keys.toSorted())
  }
})

test('what the plans allow', () => {
  const number = (cell: string) => (cell === '' || cell === 'no limit' ? null : Number(cell.replaceAll(',', '')))
  const rows = tableOf(page, 'plan').map(
    ([plan, queries, rows, states, watches, webhooks, hours]): [string, PlanLimits] => [
      plan!,
      {
        dailyCalls: number(queries!),
        pageRows: number(rows!)!,
        historyStates: number(states!),
        watches: number(watches!) ?? 0,
        webhooks: number(webhooks!) ?? 0,
        probeHours: number(hours!),
      },
    ],
  )
  assert.deepEqual(Object.fromEntries(rows), DEFAULT_PLAN_LIMITS)
})

test('every header in the OpenAPI document is described', () => {
  const rows = tableOf(page, 'header').flatMap(([cell]) => codes(cell!))
  for (const header of Object.keys(document.components.headers)) assert.ok(rows.includes(header), header)
})

test('the example of /daily returns the file that the setup above builds', async () => {
  const [, names = ''] = /\nprintf '(.*)' > registered\.txt\n/.exec(page)!
  const [, date = '', listed] = /\$API\/daily -d '.*"date":"(.*)"\}' \| gunzip\n```\n\n```\n([^`]*)```/.exec(page)!
  assert.ok(page.includes(`--date ${date} registered.txt\nnpx domaindex build daily --date ${date}\n`))
  await publish(world, `${date}.txt.gz`, gzipSync(names.replaceAll('\\n', '\n')))
  const periods = [/--period (\S+)/.exec(page)![1]!]
  const { token } = await world.account({ plan: 'premium', periods })
  const { bytes } = await fetchFile(world, '/v1.0/daily', post({ token, date }))
  assert.equal(gunzipSync(bytes).toString(), listed)
})

test('the examples return what they show, except cursors', async () => {
  const { token } = await world.account({ plan: 'premium' })
  const cursors = new Map<string, string>()
  const shown = examples(page)
  assert.ok(shown.length >= 12)
  for (const example of shown) {
    const { text } = await world.send(...requestOf(example, token, cursors))
    assert.deepEqual(withoutCursor(JSON.parse(text)), withoutCursor(JSON.parse(example.output)), example.command)
    const [real, printed] = [text, example.output].map((body) => JSON.parse(body).meta?.next)
    if (printed) cursors.set(printed, real)
  }
})

test('the examples of the OpenAPI document are on the page, so they are real', () => {
  const shown = examples(page).map(({ output }) => output)
  for (const path of ['/domain/{name}', '/ip/{address}']) {
    const { example } = (document.paths[path] as unknown as Documented).get.responses[200].content[JSON_TYPE]
    assert.ok(shown.includes(JSON.stringify(example)), path)
  }
})

type Documented = { get: { responses: { 200: { content: { [JSON_TYPE]: { example: object } } } } } }

/** The path and the request of a curl line. The real cursor replaces the printed one. */
function requestOf({ command }: Example, token: string, cursors: Map<string, string>): [string, RequestInit] {
  let line = command.replace('$API', '/v1.0').replace("'$TOKEN'", token).replace('$TOKEN', token)
  for (const [printed, real] of cursors) line = line.replace(printed, real)
  const path = /(\/[^\s']+)/.exec(line.replace(/http:\/\/[^/]+/, ''))![1]!
  const data = [...line.matchAll(/ -d (?:'([^']*)'|(\S+))/g)].map(([, quoted, plain]) => quoted ?? plain!)
  const bearer = /"Authorization: ([^"]+)"/.exec(line)?.[1]
  if (bearer !== undefined) return [path, { headers: { Authorization: bearer } }]
  if (line.startsWith('curl -G ')) return [`${path}?${data.join('&')}`, {}]
  return [path, { method: 'POST', body: data[0]! }]
}

function withoutCursor(body: { meta?: { next?: string | null } }): object {
  return body.meta?.next ? { ...body, meta: { ...body.meta, next: 'a cursor' } } : body
}
