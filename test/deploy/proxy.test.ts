/** Tests the proxy examples with a real server: requests pass, limits hold, and no log ever has a token. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { request as requestHttp } from 'node:http'
import { type RequestOptions, request as requestHttps } from 'node:https'
import { suite, type TestContext, test } from 'node:test'
import { generate } from 'selfsigned'
import { ENDPOINTS } from '../../src/api/endpoints/endpoints.ts'
import { makeAccount, serverOf } from '../api/server.ts'
import { until } from '../until.ts'
import { readText, runIfInstalled, searchPath } from './deployment.ts'

/** Where a proxy listens. The sockets are files, so that no test takes a port. */
type Sockets = { tls: string; plain: string | null }
/** `folder`: everything that the proxy writes is below it. `upstream`: host and port of domaindex. */
type Place = { path: (name: string) => string; upstream: string }
/** `program`: what has to be installed. `start`: writes the configuration, and returns the arguments. */
type Proxy = { program: string; start: (place: Place) => { args: string[]; sockets: Sockets } }

const SITE = 'api.example.com'
/** The fingerprint of a certificate that is not known. */
const CERTIFICATE = 'ab'.repeat(32)
/** A body that domaindex refuses, and one that nginx refuses itself. */
const LARGE_BODIES = [65_537, 1_200_000].map((length) => 'x'.repeat(length))
/** Lengths of a query that domaindex refuses, and one that nginx refuses itself. Caddy answers the latter with 431. */
const HEAD_LENGTHS: Readonly<Record<string, readonly number[]>> = { nginx: [17_000, 40_000], caddy: [17_000] }

/** Replaces a text that occurs exactly once. */
function replaceOnce(text: string, from: string, to: string): string {
  assert.equal(text.split(from).length, 2, `the example does not contain ${from} once`)
  return text.replace(from, () => to)
}

const NGINX: Proxy = {
  program: 'nginx',
  start({ path, upstream }) {
    const sockets = { tls: path('tls.sock'), plain: path('plain.sock') }
    let site = readText('deploy/proxy/nginx.conf').replaceAll(/ +listen \[::\].*\n/g, '')
    site = site.replaceAll('/var/log/nginx/domaindex.log', path('access.log'))
    for (const [from, to] of [
      ['listen 80;', `listen unix:${sockets.plain};`],
      ['listen 443 ssl;', `listen unix:${sockets.tls} ssl;`],
      ['server 127.0.0.1:8080', `server ${upstream}`],
      [`/etc/letsencrypt/live/${SITE}/fullchain.pem`, path('cert.pem')],
      [`/etc/letsencrypt/live/${SITE}/privkey.pem`, path('key.pem')],
    ] as const)
      site = replaceOnce(site, from, to)
    writeFileSync(path('site.conf'), site)
    const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const folders = kinds.map((kind) => `${kind}_temp_path ${path(kind)};`).join(' ')
    const main = `daemon off; pid ${path('pid')}; error_log ${path('error.log')} info; worker_processes 1;`
    writeFileSync(path('nginx.conf'), `${main} events {} http { ${folders} include ${path('site.conf')}; }`)
    return { args: ['-e', path('error.log'), '-c', path('nginx.conf')], sockets }
  },
}

const CADDY: Proxy = {
  program: 'caddy',
  start({ path, upstream }) {
    const sockets = { tls: path('tls.sock'), plain: null }
    let site = readText('deploy/proxy/Caddyfile')
    // Without an admin port, without UDP, and with a certificate that is already there.
    site = replaceOnce(site, 'auto_https disable_redirects', 'auto_https disable_redirects\nadmin off')
    site = replaceOnce(site, '\tservers {', '\tservers {\nprotocols h1 h2')
    site = replaceOnce(site, '{$UPSTREAMS:127.0.0.1:8080}', upstream)
    const inside = `bind unix/${sockets.tls}\ntls ${path('cert.pem')} ${path('key.pem')}`
    writeFileSync(path('Caddyfile'), replaceOnce(site, '{$SITE} {', `${SITE} {\n${inside}`))
    return { args: ['run', '--adapter', 'caddyfile', '--config', path('Caddyfile')], sockets }
  },
}

/** Sends a request through a socket. Returns the status, the headers that matter and the body. */
function send(socketPath: string, path: string, options: RequestOptions & { body?: string; plain?: true }) {
  const { body, plain, ...rest } = options
  const all = { socketPath, path, agent: false as const, rejectUnauthorized: false, servername: SITE, ...rest }
  return new Promise<{ status: number; location: string | undefined; text: string }>((resolve, reject) => {
    const sent = (plain ? requestHttp : requestHttps)(
      { ...all, headers: { Host: SITE, ...rest.headers } },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (more) => (text += more))
        answer.on('end', () => resolve({ status: answer.statusCode!, location: answer.headers.location, text }))
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Starts a proxy in front of a server, until the test ends. */
async function startProxy(t: TestContext, { program, start }: Proxy) {
  const { serve, path, withStore } = serverOf(t)
  const { token } = await withStore((store) => makeAccount(store, 'basic'))
  const server = await serve({ DOMAINDEX_WORKERS: '1', DOMAINDEX_TRUSTED_PROXIES: '127.0.0.1' })
  const { private: key, cert } = await generate([{ name: 'commonName', value: SITE }])
  writeFileSync(path('key.pem'), key)
  writeFileSync(path('cert.pem'), cert)
  const { args, sockets } = start({ path, upstream: new URL(server.address).host })
  const env = { ...searchPath(), XDG_DATA_HOME: path('data'), XDG_CONFIG_HOME: path('config'), HOME: path('home') }
  const proxy = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [proxy.stdout, proxy.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const ended = new Promise((resolve) => proxy.on('close', resolve))
  /** Ends the proxy, and returns everything that it has written, to its output and to files. */
  const stop = async (): Promise<string> => {
    proxy.kill('SIGTERM')
    await ended
    return [output, ...globSync(path('*.log')).map((file) => readFileSync(file, 'utf8'))].join('\n')
  }
  t.after(stop)
  const isReady = () => send(sockets.tls, '/healthz', {}).then(({ status }) => status === 200)
  await until(() => (proxy.exitCode === null ? isReady().catch(() => false) : assert.fail(output)))
  return { server, token, sockets, stop }
}

for (const each of [NGINX, CADDY]) {
  const isMissing = runIfInstalled(each.program, ['version']) === null
  suite(`the example for ${each.program}`, { skip: isMissing && `${each.program} is not installed` }, () => {
    test('passes requests on, and its log has neither query strings nor tokens, also if no server responds', async (t) => {
      const { server, token, sockets, stop } = await startProxy(t, each)
      const path = `/v1.0/lookup?token=${token}&query=unknown-name.example`
      const headers = { Referer: `https://${SITE}${path}`, 'X-Forwarded-For': '203.0.113.9' }
      const get = () => send(sockets.tls, path, { headers })
      assert.equal((await get()).status, 404)
      const body = JSON.stringify({ token, query: 'unknown-name.example' })
      assert.equal((await send(sockets.tls, '/v1.0/lookup', { method: 'POST', body })).status, 404)
      await until(() => server.log().some((line) => line.path === '/v1.0/lookup'))
      assert.deepEqual(
        server.log().filter(({ client }) => client === '203.0.113.9'),
        [],
        'a client cannot choose its address',
      )
      const bearer = { Authorization: `Bearer ${token}` }
      for (const path of [
        '/domain/unknown-name.example',
        '//domain//unknown-name.example',
        '/ip/198.51.100.77',
        `/certificate/${CERTIFICATE}`,
      ])
        await send(sockets.tls, path, { headers: bearer })
      assert.equal(
        (await send(sockets.tls, '/pdns/query/unknown-name.example?limit=1', { headers: bearer })).status,
        200,
      )
      for (const path of [
        '/dnsdb/v2/lookup/rrset/name/unknown-name.example/A',
        '/dnsdb/v2/summarize/rrset/name/unknown-name.example',
        '/dnsdb/v2/glob/rrnames/*unknown-name*.example./MX',
        '/dnsdb/v2/regex/rrnames/unknown-name/MX',
      ])
        assert.equal((await send(sockets.tls, path, { headers: { 'X-API-Key': token } })).status, 200, path)
      server.process.kill('SIGKILL')
      await server.outcome
      await send(sockets.tls, '/domain/unknown-name.example', { headers: bearer })
      const { status, text } = await get()
      assert.equal(status, 502)
      const error = { rcode: 502, error: 'internal_error', msg: 'No server of this service responds: try again.' }
      assert.deepEqual(JSON.parse(text), { result: error })
      assert.deepEqual(JSON.parse((await send(sockets.tls, '/v1.0/similar', {})).text), error)
      const written = await stop()
      assert.match(written, /\/v1\.0\/lookup.*50[23]/)
      assert.ok(!written.includes(token), written)
      assert.match(written, /\/pdns\/query\//)
      assert.match(written, /\/dnsdb\/v2\/lookup\//)
      assert.ok(!written.includes('unknown-name'), written)
      assert.ok(!written.includes('198.51.100.77'), written)
      assert.ok(!written.includes(CERTIFICATE), written)
    })

    test('passes the largest body of every endpoint and of a batch', async (t) => {
      const { token, sockets } = await startProxy(t, each)
      const post = (path: string, body: string, headers = {}) =>
        send(sockets.tls, path, { method: 'POST', body, headers })
      const full = (text: string, bytes: number): string => text + ' '.repeat(bytes - Buffer.byteLength(text))
      for (const { name } of ENDPOINTS) {
        const { status, text } = await post(
          `/v1.0/${name}`,
          full(JSON.stringify({ token, query: 'a.example' }), 65_536),
        )
        assert.ok(status !== 413 && status < 500, `${name}: ${status} ${text}`)
      }
      const line = `${JSON.stringify({ endpoint: 'lookup', query: 'a.example', next: 'x'.repeat(968) })}\n`
      const batch = full(line.repeat(1_000), 2 ** 20)
      const { status, text } = await post('/batch', batch, { Authorization: `Bearer ${token}` })
      assert.deepEqual([status, text.split('\n').length], [200, 1_001])
    })

    test('refuses a long body and a long head as domaindex does, and a request in plain text without a redirect', async (t) => {
      const { token, sockets, stop } = await startProxy(t, each)
      for (const body of LARGE_BODIES) {
        const { status, text } = await send(sockets.tls, '/v1.0/lookup', { method: 'POST', body })
        const { rcode, error } = (JSON.parse(text) as { result: { rcode: number; error: string } }).result
        assert.deepEqual([status, rcode, error], [413, 413, 'body_too_large'])
      }
      for (const length of HEAD_LENGTHS[each.program]!) {
        const long = 'x'.repeat(length)
        const answers = [
          await send(sockets.tls, `/v1.0/lookup?token=${token}&next=${long}`, {}),
          await send(sockets.tls, '/v1.0/lookup', { headers: { 'X-Long': long } }),
        ]
        for (const { status, text } of answers)
          assert.deepEqual([status, JSON.parse(text).error], [413, 'body_too_large'])
      }
      if (sockets.plain === null) return
      const plain = await send(sockets.plain, `/v1.0/lookup?token=${token}`, { plain: true })
      assert.deepEqual([plain.status, plain.location], [403, undefined])
      assert.ok(!(await stop()).includes(token))
    })
  })
}

test('no example names a variable of nginx that contains the query string in a log format', () => {
  const formats = [...readText('deploy/proxy/nginx.conf').matchAll(/log_format[^;]*;/g)].map(([format]) => format)
  assert.equal(formats.length, 1)
  assert.doesNotMatch(formats[0]!, /\$(request|request_uri|args|query_string|is_args|arg_\w+|http_\w+|request_body)\b/)
})
