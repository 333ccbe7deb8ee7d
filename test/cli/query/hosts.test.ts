/** The client commands take the registrable domain of a URL or a `www.` host of which nothing is on record. */

import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { EXIT_CODES } from '../../../src/cli/program/client-fault.ts'
import { makeAccount, serverOf } from '../../api/server.ts'

const { run, serve, withStore } = serverOf({ after } as never)

const web = { has_website: true, redirect_to_https: true, redirect_to_www: false, only_with_www: false }
const site = (domain: string, more: object = {}) => ({
  domain,
  observed_at: '2026-11-01T00:00:00Z',
  dns: { status: 'ok', A: ['192.0.2.1'] },
  web: {
    ...web,
    redirects_to: null,
    ssl: 'valid',
    social_accounts: [],
    text: 'bread rolls cakes from our oven',
    ...more,
  },
})
const NAMES = Array.from({ length: 200 }, (_, at) => `known${at}.example`)
const OBSERVATIONS = [
  ...NAMES.map((name) => site(name)),
  site('old.example', { has_website: false, redirects_to: 'known0.example' }),
  site('www.known1.example'),
]

const input = OBSERVATIONS.map((line) => JSON.stringify(line)).join('\n')
assert.equal((await run(['import', '-'], { input })).code, 0)
assert.equal((await run(['index'])).code, 0)
const { token } = await withStore((store) => makeAccount(store, 'local'))
const { address } = await serve({ DOMAINDEX_WORKERS: '1' })

const LOCAL = {}
const REMOTE = { DOMAINDEX_SERVER: address, DOMAINDEX_TOKEN: token }
const noteOf = (host: string): string =>
  `domaindex: Nothing is on record for ${host}: these are the facts about ${host.replace(/^.*?\./, '')}.\n`

for (const [from, env] of [
  ['the local store', LOCAL],
  ['a server', REMOTE],
] as const) {
  suite(`URLs and www hosts, answered from ${from}`, { concurrency: 2 }, () => {
    test('each command answers for the registrable domain, and says so on standard error', async () => {
      for (const query of ['https://www.known0.example/login', 'www.known0.example'])
        for (const command of [['lookup'], ['redirect'], ['reverseip'], ['dnshistory', '--type', 'A'], ['similar']]) {
          const { code, stdout, stderr } = await run([...command, query], { env })
          assert.deepEqual([code, stderr], [0, noteOf('www.known0.example')], command.join(' '))
          assert.equal(stdout, (await run([...command, 'known0.example'], { env })).stdout, command.join(' '))
          assert.notEqual(stdout, '')
        }
    })

    test('of 200 known names as https://www.NAME/login, all are answered in their order', async () => {
      const urls = NAMES.map((name) => `https://www.${name}/login`)
      for (const command of ['lookup', 'dnshistory']) {
        const { code, stdout, stderr } = await run([command, '--fields', 'query'], { env, input: urls.join('\n') })
        const hosts = NAMES.map((name) => (name === 'known1.example' ? `www.${name}` : name))
        const lines = hosts.map((query) => `${JSON.stringify({ query })}\n`)
        assert.deepEqual([code, stdout], [0, lines.join('')])
        assert.equal(stderr, NAMES.map((name) => (name === 'known1.example' ? '' : noteOf(`www.${name}`))).join(''))
      }
    })

    test('a host with facts of its own stands for itself, also if the list of its rows is empty', async () => {
      const { code, stdout, stderr } = await run(['redirect', 'https://www.known1.example/'], { env })
      assert.deepEqual([code, stdout, stderr], [0, '', ''])
    })

    test('if nothing is on record for the domain either, the error names the host', async () => {
      const { code, stdout, stderr } = await run(['lookup', 'https://www.unknown.example/'], { env })
      assert.deepEqual([code, stdout], [EXIT_CODES.noData[0], ''])
      assert.equal(stderr, 'domaindex: www.unknown.example: Nothing is on record for unknown.example.\n')
    })

    test('a cursor of the registrable domain continues its rows', async () => {
      const first = await run(['reverseip', 'https://www.known0.example/', '--limit', '2', '--csv'], { env })
      const [, next = ''] = /continue with --next (\S+)\n$/.exec(first.stderr) ?? []
      const args = ['reverseip', 'https://www.known0.example/', '--limit', '2', '--csv', '--next', next]
      const second = await run(args, { env })
      assert.equal(second.code, 0, second.stderr)
      const all = await run(['reverseip', 'known0.example', '--limit', '4', '--csv'], { env })
      assert.equal(first.stdout + second.stdout.replace(/^.*\n/, ''), all.stdout)
    })
  })
}
