/** `fetchList` against a real server: formats, columns, order, and lists that must change nothing. */

import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { ZipFile } from 'yazl'
import { fetchList, type ListFetch, listLineReader } from '../../../src/fetch/list/fetch-list.ts'
import type { RejectedEntry } from '../../../src/registrations/import-options.ts'
import { parseName } from '../../../src/values/domain-name.ts'
import { folderOf } from '../../cli/run.ts'
import { makeWorld } from '../../registrations/world.ts'

const CSV = '1,google.com\n2,www.b.example\n3,com\n4,google.com\n5,c.example\n'

/** Returns the URL of a server on loopback that ends with the test. */
async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function zipOf(files: Record<string, string>): Promise<Buffer> {
  const archive = new ZipFile()
  for (const [name, text] of Object.entries(files)) archive.addBuffer(Buffer.from(text), name)
  archive.end()
  return buffer(archive.outputStream)
}

async function openFetch(t: TestContext) {
  const { store } = await makeWorld(t)
  const rejects: RejectedEntry[] = []
  const waits: number[] = []
  const fetch = (urls: readonly string[], options: Partial<ListFetch> = {}, maxBytes?: number) =>
    fetchList(
      {
        store,
        signal: new AbortController().signal,
        urls,
        column: null,
        agent: 'domaindex/test',
        token: null,
        wait: async (milliseconds) => void waits.push(milliseconds),
        onBytes() {},
        onLines() {},
        onNames() {},
        onReject: (reject) => rejects.push(reject),
        ...options,
      },
      maxBytes,
    )
  const places = async (...names: string[]): Promise<(number | null)[]> =>
    (await store.observations.crawlStates(names.map((name) => parseName(name)!))).map(({ version, due }) =>
      version === 0 ? null : due,
    )
  return { store, rejects, waits, fetch, places }
}

test('a list is stored in its order, whatever its compression, and host names count as their domains', async (t) => {
  const bodies: Record<string, Buffer> = {
    '/plain.csv': Buffer.from(CSV),
    '/list.csv.gz': gzipSync(CSV),
    '/list.csv.zst': zstdCompressSync(CSV),
    '/list.csv.zip': await zipOf({ 'top-1m.csv': CSV }),
  }
  const url = await serve(t, (request, response) => response.end(bodies[request.url!]))
  for (const path of Object.keys(bodies)) {
    const { fetch, places, rejects } = await openFetch(t)
    assert.deepEqual(await fetch([url + path]), { names: 3, unusable: 1, newNames: 3 }, path)
    assert.deepEqual(await places('google.com', 'b.example', 'c.example', 'www.b.example'), [1, 2, 3, null])
    assert.deepEqual(
      rejects.map(({ line, text }) => [line, text]),
      [[3, '3,com']],
    )
    assert.deepEqual(await fetch([url + path]), { names: 3, unusable: 1, newNames: 0 })
  }
})

test('parts follow one another, and a column is found by its header in each or by its number', async (t) => {
  const parts = [
    'domain\nb.example\n',
    'domain\na.example\nb.example',
    '\uFEFFRank,"Domain",Note\n1,"d.example","x, y"\n',
  ]
  const url = await serve(t, (request, response) => response.end(parts[Number(request.url!.slice(1))]))
  const { fetch, places } = await openFetch(t)
  assert.deepEqual(await fetch([`${url}/0`, `${url}/1`], { column: 'domain' }), { names: 2, unusable: 0, newNames: 2 })
  assert.deepEqual(await places('b.example', 'a.example'), [1, 2])
  assert.deepEqual((await fetch([`${url}/2`], { column: 'Domain' })).newNames, 1)
  assert.deepEqual(await fetch([`${url}/2`], { column: '2' }), { names: 1, unusable: 1, newNames: 0 })
  await assert.rejects(fetch([`${url}/2`], { column: 'Name' }), /^InputError: it has no column "Name"$/)
})

test('a field of CSV is read as it was written', () => {
  const label = fc.stringMatching(/^[a-z]{1,8}$/)
  const field = fc.string({ unit: fc.constantFrom('a', '"', ',', ' ', '.') })
  fc.assert(
    fc.property(fc.array(field, { maxLength: 5 }), label, fc.array(field, { maxLength: 5 }), (before, name, after) => {
      const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
      const line = [...before, `${name}.example`, ...after].map(quoted).join(',')
      assert.equal(listLineReader(String(before.length + 1))(line, 1), `${name}.example`)
    }),
  )
})

test('an unusable list is rejected with its reason, and nothing of it is stored', async (t) => {
  const zip = await zipOf({ 'a.csv': 'x.example\n'.repeat(50_000) })
  const cutZip = zip.subarray(0, zip.length - 30)
  const flipped = Buffer.from(zip)
  flipped.set([255, 255, 255], 60)
  const gzip = gzipSync('x.example\n'.repeat(1_000_000))
  const bodies: Record<string, [Buffer, RegExp]> = {
    '/page': [Buffer.from('<!doctype html>\n<title>Error</title>\n'), /none of its lines is a name/],
    '/bomb.gz': [gzip, /it expands to more than 1000000 bytes, the most that is accepted/],
    '/bomb.zip': [await zipOf({ 'a.csv': 'x.example\n'.repeat(1_000_000) }), /it expands to more than 1000000 bytes/],
    '/cut.gz': [gzipSync(CSV.repeat(1_000)).subarray(0, 60), /it cannot be read: /],
    '/cut.zip': [cutZip, /its zip archive is damaged/],
    '/flipped.zip': [flipped, /its zip archive is damaged/],
    '/many.zip': [await zipOf({ a: 'x.example', b: 'x.example' }), /its zip archive has several files/],
    '/empty.zip': [await zipOf({}), /its zip archive has no file/],
    '/deflated': [deflateRawSync('x.example\n'.repeat(100)), /none of its lines is a name/],
  }
  const url = await serve(t, (request, response) => response.end(bodies[request.url!]![0]))
  const { fetch, places } = await openFetch(t)
  for (const [path, [, message]] of Object.entries(bodies))
    await assert.rejects(fetch([url + path], {}, 1_000_000), { name: 'InputError', message }, path)
  assert.deepEqual(await places('x.example'), [null])
})

test('a failing server is asked again, when it asks for it; a refusing one is not', async (t) => {
  const requests: string[] = []
  const url = await serve(t, (request, response) => {
    requests.push(`${request.url} ${request.headers.authorization ?? ''}`)
    const count = requests.filter((each) => each.startsWith(`${request.url} `)).length
    if (request.url === '/busy' && count === 1) response.writeHead(429, { 'retry-after': '7' }).end()
    else if (request.url === '/busy' && count === 2) {
      response.writeHead(200, { 'content-length': 1_000 }).write('a.example\n')
      setImmediate(() => response.destroy())
    } else if (request.url === '/busy') response.end('a.example\n')
    else if (request.url === '/moved') response.writeHead(302, { location: '/busy' }).end()
    else if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end()
    else if (request.url === '/private') response.writeHead(302, { location: 'http://10.0.0.1/x' }).end()
    else if (request.url === '/loopback') response.writeHead(302, { location: 'http://[::1]/x' }).end()
    else if (request.url === '/port') response.writeHead(302, { location: 'http://192.0.2.1:8080/x' }).end()
    else if (request.url === '/name') response.writeHead(302, { location: 'http://localhost/x' }).end()
    else if (request.url === '/elsewhere')
      response.writeHead(302, { location: `${url.replace('127.0.0.1', 'localhost')}/busy` }).end()
    else response.writeHead(request.url === '/down' ? 503 : 403).end()
  })
  const { fetch, places, waits } = await openFetch(t)
  assert.deepEqual(await fetch([`${url}/moved`], { token: 'secret' }), { names: 1, unusable: 0, newNames: 1 })
  assert.deepEqual(await places('a.example'), [1])
  assert.deepEqual(waits, [7_000, 10_000])
  assert.ok(requests.every((each) => each.endsWith(' Bearer secret')))
  await assert.rejects(
    fetch([`${url}/elsewhere`], { token: 'secret', mayConnect: () => true })
      .then(() => requests.at(-1))
      .then((last) => {
        throw new Error(last)
      }),
    /^Error: \/busy $/,
    'another server does not receive the token',
  )
  const before = requests.length
  const refused =
    /InputError: it redirects to (localhost|10\.0\.0\.1|\[::1\]|192\.0\.2\.1)(:\d+)?, which has no public address, or a port/
  for (const path of ['/elsewhere', '/private', '/loopback', '/port'])
    await assert.rejects(fetch([url + path]), refused, path)
  await assert.rejects(fetch([`${url}/name`]), refused)
  assert.equal(requests.length, before + 5, 'nothing is sent there')
  const withPassword = url.replace('http://', 'http://user:hunter2@')
  await assert.rejects(fetch([withPassword]), (error: Error) => {
    assert.match(error.message, /^the URL of 127\.0\.0\.1:\d+ contains a user or a password/)
    return !error.message.includes('hunter2')
  })
  await assert.rejects(fetch([`${url}/loop`]), /InputError: it redirects more than 5 times/)
  await assert.rejects(fetch([`${url}/down`]), /InputError: 127\.0\.0\.1:\d+ responded with status 503/)
  await assert.rejects(fetch([`${url}/forbidden`]), /responded with status 403: it does not allow the download/)
  await assert.rejects(
    fetch(['ftp://lists.example/x']),
    /"ftp:\/\/lists\.example\/x" is no http:\/\/ or https:\/\/ URL$/,
  )
  assert.equal(requests.filter((each) => each.startsWith('/forbidden')).length, 1)
  const aborted = AbortSignal.abort()
  await assert.rejects(fetch([`${url}/busy`], { signal: aborted }), { name: 'AbortError' })
})

test('a redirect back to the typed server from elsewhere is checked like any other, and takes no token', async (t) => {
  const requests: string[] = []
  const note = (request: Parameters<RequestListener>[0]): number =>
    requests.push(`${request.url} ${request.headers.authorization ?? 'without'}`)
  let elsewhere = ''
  const typed = await serve(t, (request, response) => {
    note(request)
    if (request.url === '/list') response.writeHead(302, { location: '/moved' }).end()
    else if (request.url === '/moved') response.writeHead(302, { location: `${elsewhere}/back` }).end()
    else response.end('secret.example\n')
  })
  const back = await serve(t, (request, response) => {
    note(request)
    response.writeHead(302, { location: `${typed}/internal` }).end()
  })
  elsewhere = back.replace('127.0.0.1', 'localhost')
  const { port } = new URL(typed)
  const { fetch, places } = await openFetch(t)
  const options = { token: 'secret', mayConnect: (_: unknown, to: number) => to !== Number(port) }
  await assert.rejects(fetch([`${typed}/list`], options), {
    name: 'InputError',
    message: `it redirects to 127.0.0.1:${port}, which has no public address, or a port other than 80 and 443`,
  })
  assert.deepEqual(requests.splice(0), ['/list Bearer secret', '/moved Bearer secret', '/back without'])
  assert.deepEqual(await places('secret.example'), [null])
  await fetch([`${typed}/list`], { ...options, mayConnect: () => true })
  assert.equal(requests.at(-1), '/internal without')
})

test('the command creates the store, prints its counts, and changes nothing if the list is unusable', async (t) => {
  const url = await serve(t, (request, response) =>
    response.writeHead(request.url === '/none' ? 404 : 200).end(request.url === '/page' ? '<html>\n' : CSV),
  )
  const { run, withStore } = folderOf(t)
  const first = await run(['fetch', 'list', `${url}/list`, '--json'])
  const { seconds: _, ...counts } = JSON.parse(first.stdout)
  assert.deepEqual([first.code, counts], [0, { names: 3, unusable: 1, newNames: 3 }])
  assert.match(first.stderr, /^line 3: /)
  assert.notEqual(await withStore(({ facts }) => facts.lookup(parseName('b.example')!)), null)
  const second = await run(['fetch', 'list', `${url}/list`])
  assert.match(second.stdout, /^names 3, unusable 1, new 0 \(\d+\.\d s\)\n$/)
  const page = await run(['fetch', 'list', `${url}/page`])
  assert.deepEqual([page.code, page.stdout], [1, ''])
  assert.match(page.stderr, /\/page: none of its lines is a name; nothing of it is stored\n$/)
  assert.match(
    (await run(['fetch', 'list', `${url}/none`])).stderr,
    /responded with status 404; nothing of it is stored/,
  )
  for (const [args, code, message] of [
    [['alexa'], 2, /alexa is no list: name one of tranco, umbrella, majestic, radar, or a URL/],
    [['tranco', '--column', '1'], 2, /--column is only for the URL of a list/],
    [['radar'], 1, /DOMAINDEX_RADAR_TOKEN has to be a token/],
  ] as const) {
    const rejected = await run(['fetch', 'list', ...args])
    assert.deepEqual([rejected.code, message.test(rejected.stderr)], [code, true], rejected.stderr)
  }
})
