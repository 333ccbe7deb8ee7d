/** Tests `domaindex demo` as `npm start` runs it. */

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { SHOWCASE_DOMAIN } from '../../lab/lab.ts'
import { readPage } from '../docs/markdown.ts'
import { folderOf, outcomeOf } from './run.ts'

type Result = object[] | { has_website?: string; A?: object[] }

/** Waits until the output of a stream matches the pattern. */
async function outputMatching(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  let text = ''
  for await (const piece of stream.setEncoding('utf8')) {
    text += piece
    if (pattern.test(text)) return text
  }
  assert.fail(`it ended after ${text}`)
}

/** A text without what differs at every start: tokens, times, counts and the port. */
function shapeOf(text: string): string {
  return text
    .replace(/dxt_\w+/g, 'TOKEN')
    .replace(/#code=\S+/, '#code=CODE')
    .replace(/\d+(?:\.\d+)?/g, '0')
}

suite('domaindex demo', { concurrency: 2 }, () => {
  test('the demo crawls the lab twice, indexes its names, prints an address, a token per plan and a curl command per endpoint and file, and ends at Ctrl-C', async (t) => {
    const { start, run, path } = folderOf(t)
    const child = start(['demo', '--port', '0'])
    t.after(() => child.kill('SIGKILL'))
    const output = await outputMatching(child.stdout, /enriched.*\n/)
    const [, transcript] = /^```\n(Starting [^`]*)```$/m.exec(readPage('getting-started.md'))!
    assert.equal(shapeOf(output), shapeOf(transcript!), 'docs/getting-started.md shows what it prints')
    const [, address] = /(http:\/\/127\.0\.0\.1:\d+)\/v1\.0\//.exec(output)!
    for (const plan of ['free', 'basic', 'premium']) assert.match(output, new RegExp(`^ {2}${plan} +\\S{20,}$`, 'm'))
    const lines = [...output.matchAll(/^ {2}curl -sw '\\n' (\S+) -d '(.*)'$/gm)].map(([, url, body]) => ({
      url: url!,
      body: body!,
    }))
    const endpoints = ['lookup', 'redirect', 'reverseip', 'dnshistory', 'similar']
    assert.deepEqual(
      lines.map(({ url }) => url),
      endpoints.map((endpoint) => `${address}/v1.0/${endpoint}`),
    )
    for (const { url, body } of lines) {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' } // as curl -d sends it
      const response = await fetch(url, { method: 'POST', body, headers })
      const { meta, result } = (await response.json()) as { meta: { query: string }; result: Result }
      assert.deepEqual([response.status, meta.query], [200, SHOWCASE_DOMAIN])
      if (Array.isArray(result)) assert.ok(result.length > 1, url)
      else assert.ok(result.has_website === 'yes' || result.A!.length === 2, url)
    }
    const downloads = [...output.matchAll(/^ {2}curl -s (\S+) -d '(.*)' \| gunzip \| head -3$/gm)]
    const first: (string | undefined)[] = []
    for (const [, url, body] of downloads) {
      const response = await fetch(url!, { method: 'POST', body: body! })
      assert.equal(response.headers.get('content-type'), 'application/gzip')
      const lines = gunzipSync(Buffer.from(await response.arrayBuffer()))
        .toString()
        .split('\n')
      assert.ok(lines.length > 50, url)
      first.push(/^[^,]*(,[^,]*)?/.exec(lines[0]!)?.[0])
    }
    assert.match(first[0]!, /\.example$/)
    assert.deepEqual(first.slice(1, 3), ['domain,has_website', 'domain,has_website'])
    assert.match(first[3]!, /\.example$/)
    assert.equal(first[4], 'domain,has_website')
    assert.match(output, /probed (\d{3}), .*, applied \1, .*\n.*probed \1, .*, unchanged [1-9]/)
    const store = `sqlite:${path('.demo/demo-0.db')}`
    const served = await run(['serve'], { env: { DOMAINDEX_STORE: store } })
    assert.deepEqual(
      [served.code, /generated data of a demo: set DOMAINDEX_STORE to another store\n$/.test(served.stderr)],
      [1, true],
    )
    child.kill('SIGINT')
    assert.deepEqual((await outcomeOf(child)).code, 0)
  })

  test('the port is open before the crawl starts, and requests get status 503 meanwhile', async (t) => {
    const { start } = folderOf(t)
    const probe = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => probe.once('listening', resolve))
    const { port } = probe.address() as AddressInfo
    await new Promise((resolve) => probe.close(resolve))
    const child = start(['demo', '--port', String(port)])
    t.after(() => child.kill('SIGKILL'))
    await outputMatching(child.stdout, /Starting a small internet/)
    const response = await fetch(`http://127.0.0.1:${port}/`)
    assert.deepEqual(
      [response.status, await response.text()],
      [503, 'The demo is still crawling. It will answer here soon.\n'],
    )
  })

  test('if the port is in use, one line says so, and nothing is created', async (t) => {
    const taken = createServer().listen(0, '127.0.0.1')
    t.after(() => taken.close())
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    const { run } = folderOf(t)
    const { code, stderr, stdout } = await run(['demo', '--port', String(port)])
    assert.equal(stdout, '')
    assert.match(
      stderr,
      /^domaindex: 127\.0\.0\.1:\d+ is in use: set another port with --port, as in npm start -- --port \d+\n$/,
    )
    assert.equal(code, 1)
    assert.match((await run(['demo', '--port', '65536'])).stderr, /It must be a whole number from 0 to 65535/)
  })
})
