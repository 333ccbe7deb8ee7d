/** `domaindex lookup` tells people what was observed and when, and programs the keys of the specification. */

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, suite, test } from 'node:test'
import { makeAccount, serverOf } from '../../api/server.ts'
import { until } from '../../until.ts'
import { noTerminal, runOnTerminal } from './terminal.ts'

const { run, serve, withStore, path, url } = serverOf({ after } as never)

const web = { has_website: true, redirect_to_https: true, redirect_to_www: false, only_with_www: false }
const site = { ...web, redirects_to: null, ssl: 'valid', social_accounts: [] }
const OBSERVATIONS = [
  { domain: 'both.example', observed_at: '2026-11-01T00:00:00Z', dns: { status: 'ok', A: ['192.0.2.1'] }, web: site },
  { domain: 'dns.example', observed_at: '2026-11-02T00:00:00Z', dns: { status: 'ok', A: ['192.0.2.2'] } },
  { domain: 'web.example', observed_at: '2026-11-03T00:00:00Z', web: site },
  { domain: 'gone.example', observed_at: '2026-11-04T00:00:00Z', dns: { status: 'nxdomain' } },
]
const input = OBSERVATIONS.map((line) => JSON.stringify(line)).join('\n')
assert.equal((await run(['import', '-'], { input })).code, 0)
const { token } = await withStore((store) => makeAccount(store, 'local'))
const { address } = await serve({ DOMAINDEX_WORKERS: '1' })

const QUERIES = ['both.example', 'dns.example', 'web.example', 'gone.example']
const FIELDS = 'query,has_website,ssl,only_dns_no_web,ip,dns_observed,web_observed'

for (const [from, env] of [
  ['the local store', {}],
  ['a server', { DOMAINDEX_SERVER: address, DOMAINDEX_TOKEN: token }],
] as const) {
  suite(`look-ups, answered from ${from}`, { concurrency: 2 }, () => {
    test('CSV says when DNS and website were observed, and nothing of what was never observed', async () => {
      const { code, stdout, stderr } = await run(['lookup', ...QUERIES, '--csv', '--fields', FIELDS], { env })
      assert.deepEqual([code, stderr], [0, ''])
      assert.deepEqual(stdout.trim().split('\n'), [
        FIELDS,
        'both.example,yes,valid,no,v4only,2026-11-01T00:00:00Z,2026-11-01T00:00:00Z',
        'dns.example,,,no,v4only,2026-11-02T00:00:00Z,',
        'web.example,yes,valid,,,,2026-11-03T00:00:00Z',
        'gone.example,,,no,nxdomain,2026-11-04T00:00:00Z,',
      ])
      const whole = await run(['lookup', 'dns.example', '--csv'], { env })
      assert.match(whole.stdout, /^query,has_website,.*,dns_observed,web_observed\n/)
    })

    test('JSON has the keys of the specification and no others', async () => {
      const { stdout } = await run(['lookup', 'dns.example'], { env })
      assert.equal(
        stdout,
        '{"query":"dns.example","has_website":"no","redirect_to_https":"no","redirect_to_www":"no","redirect_to_domain":"no",' +
          '"only_with_www":"no","only_dns_no_web":"no","ssl":"nocert","ip":"v4only","redirect_count":"0",' +
          '"reverse_ip_count":"0","social_networks":[],"social_accounts":[]}\n',
      )
    })

    test('a www host is answered for its registrable domain', async () => {
      const { stdout, stderr } = await run(['lookup', 'www.dns.example', '--csv', '--fields', 'query,ip'], { env })
      assert.equal(stdout, 'query,ip\ndns.example,v4only\n')
      assert.equal(
        stderr,
        'domaindex: Nothing is on record for www.dns.example: these are the facts about dns.example.\n',
      )
    })
  })
}

test('on a terminal, what was never observed is called so', { skip: noTerminal }, async () => {
  const env = { DOMAINDEX_STORE: url, NO_COLOR: '1' }
  const { shown } = await runOnTerminal(path('.'), ['lookup', 'dns.example'], env)
  assert.match(shown, /^has_website +never observed\r$/m)
  assert.match(shown, /^dns_observed +2026-11-02T00:00:00Z\r$/m)
  assert.match(shown, /^web_observed +never observed\r$/m)
  const table = await runOnTerminal(path('.'), ['lookup', 'dns.example', 'both.example'], env)
  assert.match(
    table.shown,
    /^QUERY .* DNS_OBSERVED +WEB_OBSERVED\r\ndns\.example +never observed .* never observed\r$/m,
  )
})

test('a server that does not know when it observed is asked for what it knows, and the user is told', async (t) => {
  const lookup = { meta: { query: 'a.example', rcode: 200, msg: 'ok' }, result: { has_website: 'no', ip: 'noip' } }
  const other = createServer(({ url = '' }, response) => {
    if (url.startsWith('/v1.0/lookup')) return response.end(JSON.stringify(lookup))
    response.writeHead(404, { 'Content-Type': 'text/html' }).end('<h1>Not found</h1>')
  }).listen(0, '127.0.0.1')
  t.after(() => other.close())
  await until(() => other.listening)
  const server = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  const args = ['lookup', 'a.example', '--csv', '--fields', 'query,has_website,ip,dns_observed', '--server', server]
  const { code, stdout, stderr } = await run(args, { env: { DOMAINDEX_TOKEN: 'token' } })
  assert.deepEqual([code, stdout], [0, 'query,has_website,ip,dns_observed\na.example,no,noip,\n'])
  assert.match(stderr, /^domaindex: this server does not say when it observed a domain: .*\n$/)
})
