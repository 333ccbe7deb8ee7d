/** POST /batch: every line is answered and charged as a call of its endpoint. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { dayOf } from '../../src/values/time.ts'
import { hosted, look, ok, redirecting } from './observations.ts'
import { type Known, makeWorld } from './world.ts'

const world = await makeWorld()
const premium = await world.account({ plan: 'premium' })

before(async () => {
  await world.ingest(
    hosted('one.example', ['192.0.2.1']),
    hosted('two.example', ['192.0.2.1']),
    redirecting('source.example', 'one.example'),
    look('history.example', { dns: ok({ TXT: [['é "quoted" \\ text']], A: ['192.0.2.7'] }) }),
  )
})

type Line = Record<string, unknown>

const post = (body: string, token: string | null = premium.token, headers: Record<string, string> = {}) =>
  fetch(`${world.address}/batch`, {
    method: 'POST',
    headers: { ...(token !== null && { Authorization: `Bearer ${token}` }), ...headers },
    body,
  })
const jsonLines = (lines: readonly Line[]) => lines.map((line) => JSON.stringify(line)).join('\n')
const linesOf = (text: string): string[] => {
  assert.ok(text.endsWith('\n'))
  return text.slice(0, -1).split('\n')
}
const batch = async (lines: readonly Line[], { token } = premium) => {
  const response = await post(jsonLines(lines), token)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'application/x-ndjson')
  return linesOf(await response.text())
}
const statuses = (answers: readonly string[]) => answers.map((answer) => JSON.parse(answer).status as number)
const used = async ({ account }: Known) => {
  await world.serve() // a new process sees what the former one has settled
  return world.store.ledger.usedUnits(account.id, dayOf(world.clock.now))
}
const remaining = async ({ token }: Known) => {
  const response = await fetch(`${world.address}/account/quota`, { headers: { Authorization: `Bearer ${token}` } })
  return ((await response.json()) as { remaining: number }).remaining
}

const CALLS: Line[] = [
  { endpoint: 'lookup', query: 'ONE.example.' },
  { endpoint: 'lookup', query: 'unknown.example' },
  { endpoint: 'lookup' },
  { endpoint: 'lookup', query: 'nodot' },
  { endpoint: 'redirect', query: 'one.example', limit: 5 },
  { endpoint: 'redirect', query: 'one.example', next: 'nonsense' },
  { endpoint: 'reverseip', query: '192.0.2.1' },
  { endpoint: 'reverseip', query: '192.0.2.99' },
  { endpoint: 'dnshistory', query: 'history.example' },
  { endpoint: 'dnshistory', query: 'history.example', type: 'BAD' },
  { endpoint: 'similar', query: 'one.example' },
]

test('each line has the status and the exact body of its endpoint, in the order of the lines', async () => {
  const answers = await batch([...CALLS, ...CALLS])
  const expected = await Promise.all(
    CALLS.map(async ({ endpoint, ...parameters }) => {
      const { status, text } = await world.ask(endpoint as string, { token: premium.token, ...parameters })
      return `{"status":${status},"body":${text}}`
    }),
  )
  assert.deepEqual(answers, [...expected, ...expected])
  assert.deepEqual(statuses(expected), [200, 404, 400, 400, 200, 400, 200, 404, 200, 400, 404])
})

test('a line asks for a search or a profile, with the body that its path sends', async () => {
  const lines = [
    { endpoint: 'search', q: '*.example', ip: '192.0.2.1' },
    { endpoint: 'search', q: 'a*b' },
    { endpoint: 'domain', query: 'one.example' },
    { endpoint: 'ip', query: '192.0.2.0/24', limit: 2 },
    { endpoint: 'webhistory', query: 'source.example' },
  ]
  const paths = [
    '/search?q=*.example&ip=192.0.2.1',
    '/search?q=a*b',
    '/domain/one.example',
    '/ip/192.0.2.0/24?limit=2',
    '/domain/source.example/web',
  ]
  const headers = { Authorization: `Bearer ${premium.token}`, Accept: 'application/json' }
  const expected = await Promise.all(paths.map(async (path) => (await world.send(path, { headers })).body as object))
  const withoutCursors = (body: object) =>
    JSON.stringify(body, (key, value) => (key === 'next' ? value !== null : value))
  const answers = (await batch(lines)).map((line) => JSON.parse(line) as { status: number; body: object })
  assert.deepEqual(
    answers.map(({ body }) => withoutCursors(body)),
    expected.map(withoutCursors),
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 400, 200, 200, 200],
  )
})

test('a cursor of a line continues in a batch and in a call', async () => {
  const first = JSON.parse((await batch([{ endpoint: 'reverseip', query: '192.0.2.1', limit: 1 }]))[0]!)
  const { next } = first.body.meta
  const [second] = await batch([{ endpoint: 'reverseip', query: '192.0.2.1', limit: 1, next }])
  assert.deepEqual(
    [...first.body.result, ...JSON.parse(second!).body.result].map(({ target }) => target),
    ['one.example', 'two.example'],
  )
})

test('a line that is answered 200 or no_data costs one call, any other none', async () => {
  const account = await world.account({ plan: 'basic' })
  const start = await remaining(account)
  const answers = await batch(CALLS, account)
  const counted = statuses(answers).filter((status) => status === 200 || status === 404).length
  assert.equal(counted, 7)
  assert.equal(await remaining(account), start - counted)
})

test('past the limit each line says rate_limited, with the units that are used', async () => {
  const free = await world.account()
  const answers = await batch(
    Array.from({ length: 130 }, () => ({ endpoint: 'lookup', query: 'one.example' })),
    free,
  )
  const found = statuses(answers)
  assert.equal(found.filter((status) => status === 200).length, 100)
  assert.equal(found.filter((status) => status === 429).length, 30)
  const { body } = JSON.parse(answers.at(-1)!)
  assert.deepEqual([body.result.error, body.result.limit, body.result.used], ['rate_limited', 100, 100])
  assert.deepEqual(statuses(await batch([{ endpoint: 'lookup', query: 'one.example' }], free)), [429])
})

test('batches and calls at once spend each unit once, and leave none', async () => {
  const free = await world.account()
  const lines = Array.from({ length: 40 }, () => ({ endpoint: 'lookup', query: 'one.example' }))
  const single = async () => (await world.ask('lookup', { token: free.token, query: 'one.example' })).status
  const all = await Promise.all([
    ...Array.from({ length: 3 }, () => batch(lines, free).then(statuses)),
    ...Array.from({ length: 30 }, () => single().then((status) => [status])),
  ])
  const found = all.flat()
  assert.equal(found.filter((status) => status === 200).length, 100)
  assert.equal(found.filter((status) => status === 429).length, 50)
  assert.equal(await used(free), 100)
})

test('a line that cannot be read says so in its place and costs nothing', async () => {
  const account = await world.account({ plan: 'basic' })
  const start = await remaining(account)
  const body = [
    'nonsense',
    '[]',
    '{"query":"one.example"}',
    '',
    '{"endpoint":"daily"}',
    '  ',
    '{"endpoint":"nothing"}',
    '{"endpoint":["lookup"],"query":"one.example"}',
  ]
  const response = await post(`${body.join('\r\n')}\n${jsonLines([CALLS[0]!])}\n`, account.token)
  const answers = linesOf(await response.text()).map((line) => JSON.parse(line))
  assert.deepEqual(
    answers.map(({ status, body: { error } }) => [status, error]),
    [
      [400, 'line_invalid'],
      [400, 'line_invalid'],
      [404, 'endpoint_unknown'],
      [404, 'endpoint_unknown'],
      [404, 'endpoint_unknown'],
      [404, 'endpoint_unknown'],
      [200, undefined],
    ],
  )
  assert.deepEqual(Object.keys(answers[0].body), ['rcode', 'error', 'msg'])
  assert.equal(await remaining(account), start - 1)
})

test('a plan without an endpoint is refused line by line', async () => {
  const free = await world.account()
  const answers = await batch([{ endpoint: 'dnshistory', query: 'history.example' }, CALLS[0]!], free)
  assert.deepEqual(statuses(answers), [403, 200])
})

test('the token is that of the header: a token in a line is ignored', async () => {
  const other = await world.account({ plan: 'basic' })
  const start = await remaining(other)
  await batch([{ ...CALLS[0], token: other.token }])
  assert.equal(await remaining(other), start)
})

test('the checks of the whole batch: size, token, lines', async () => {
  const error = async (response: Response) => [response.status, ((await response.json()) as { error: string }).error]
  const line = JSON.stringify(CALLS[0])
  const large = 'x'.repeat(2 ** 20 + 1)
  assert.deepEqual(await error(await post(large, null)), [413, 'body_too_large'])
  assert.deepEqual(await error(await post(line, null)), [401, 'token_missing'])
  assert.deepEqual(await error(await post(line, 'dxt_wrong')), [401, 'token_invalid'])
  assert.equal((await post(line, null)).headers.get('www-authenticate'), 'Bearer')
  assert.deepEqual(await error(await post('', premium.token)), [400, 'batch_invalid'])
  assert.deepEqual(await error(await post('\n\r\n \n', premium.token)), [400, 'batch_invalid'])
  assert.deepEqual(await error(await post(`${line}\n`.repeat(1_001))), [400, 'batch_invalid'])
  assert.deepEqual(await error(await post('\n'.repeat(5_000) + `${line}\n`.repeat(1_001))), [400, 'batch_invalid'])
  assert.equal((await post('\n'.repeat(5_000) + line)).status, 200)
  const coded = (token: string | null, coding: string) =>
    fetch(`${world.address}/batch`, {
      method: 'POST',
      headers: { 'Content-Encoding': coding, ...(token !== null && { Authorization: `Bearer ${token}` }) },
      body: gzipSync(line),
    })
  const zipped = await coded(premium.token, 'gzip')
  assert.match(await zipped.clone().text(), /Send the lines of a batch without Content-Encoding/)
  assert.deepEqual(await error(zipped), [400, 'batch_invalid'])
  assert.deepEqual(await error(await coded(null, 'gzip')), [401, 'token_missing'])
  const get = await fetch(`${world.address}/batch`)
  assert.deepEqual([await error(get), get.headers.get('allow')], [[404, 'endpoint_unknown'], 'POST, OPTIONS'])
  assert.equal((await fetch(`${world.address}/batch`, { method: 'OPTIONS' })).status, 204)
})

test('1,000 lines, plain and gzipped', async () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => CALLS[index % CALLS.length]!)
  const plain = await post(jsonLines(lines), premium.token, { 'Accept-Encoding': 'identity' })
  assert.equal(plain.headers.get('content-encoding'), null)
  const text = await plain.text()
  assert.equal(linesOf(text).length, 1_000)
  const zipped = await post(jsonLines(lines), premium.token, { 'Accept-Encoding': 'gzip' })
  assert.equal(zipped.headers.get('content-encoding'), 'gzip')
  assert.equal(await zipped.text(), text)
})

test('the response says what is left before the first line', async () => {
  const account = await world.account({ plan: 'basic' })
  const response = await post(jsonLines(CALLS), account.token)
  assert.match(response.headers.get('ratelimit-policy')!, /q=25000/)
  assert.match(response.headers.get('ratelimit')!, /r=25000/)
  await response.text()
})
