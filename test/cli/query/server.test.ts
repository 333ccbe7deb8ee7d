/** The client commands ask a real server: the same rows as from the local store, tokens, and exit codes by cause. */

import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, suite, test } from 'node:test'
import { makeToken, TOKEN_BYTES } from '../../../src/accounts/token.ts'
import { EXIT_CODES, type ExitCause } from '../../../src/cli/program/client-fault.ts'
import { makeAccount, serverOf } from '../../api/server.ts'
import { until } from '../../until.ts'
import { outcomeOf } from '../run.ts'

const EXAMPLE = new URL('../../../docs/example.jsonl', import.meta.url).pathname
const FREE_CALLS = 2

const { run, start, path, serve, withStore } = serverOf({ after } as never)
const tokens = {
  local: '',
  free: '',
  spent: '',
  paging: '',
  invalid: makeToken(Buffer.alloc(TOKEN_BYTES, 1)) as string,
}

assert.equal((await run(['import', EXAMPLE])).code, 0)
await withStore(async (store) => {
  for (const [name, plan] of [
    ['local', 'local'],
    ['free', 'free'],
    ['spent', 'free'],
    ['paging', 'free'],
  ] as const)
    tokens[name] = (await makeAccount(store, plan, `${name}@example.com`)).token
})
writeFileSync(path('plans.json'), JSON.stringify({ free: { daily_calls: FREE_CALLS, page_rows: 1 } }))
const { address: server } = await serve({ DOMAINDEX_PLANS: path('plans.json') })

/** Runs a command against the server, without kept tokens. */
const ask = (args: string[], env: Record<string, string> = {}) =>
  run(args, { env: { DOMAINDEX_SERVER: server, XDG_CONFIG_HOME: path('no-config'), ...env } })

suite('client commands with a server', { concurrency: 2 }, () => {
  test('a server and the local store behind it give the same rows', async () => {
    for (const args of [
      ['lookup', 'example.com', 'old.example.org'],
      ['redirect', 'example.com', '--csv'],
      ['reverseip', 'example.com', '--all'],
      ['dnshistory', 'example.com', '--all'],
    ]) {
      const remote = await ask(args, { DOMAINDEX_TOKEN: tokens.local })
      const local = await run(args)
      assert.equal(remote.code, 0, remote.stderr)
      assert.deepEqual(remote, local)
    }
  })

  test('the exit code names the cause, and final causes stop further queries', async () => {
    const closed = 'http://127.0.0.1:1'
    const cases: [args: string[], env: Record<string, string>, cause: ExitCause, message: RegExp][] = [
      [['lookup', 'example.com'], {}, 'token', /there is no token for http.*: run domaindex login/],
      [
        ['lookup', 'a.example', 'b.example'],
        { DOMAINDEX_TOKEN: tokens.invalid },
        'token',
        /^domaindex: a\.example: .*\ndomaindex: not answered: 2 of 2 queries; the first is a\.example\n$/,
      ],
      [['dnshistory', 'example.com'], { DOMAINDEX_TOKEN: tokens.free }, 'plan', /^domaindex: example\.com: /],
      [['lookup', 'unknown.example'], { DOMAINDEX_TOKEN: tokens.local }, 'noData', /^domaindex: unknown\.example: /],
      [['quota'], { DOMAINDEX_TOKEN: tokens.invalid }, 'token', /^domaindex: /],
      [['quota', '--server', closed], { DOMAINDEX_TOKEN: tokens.local }, 'network', /cannot be reached/],
      [['quota', '--server', `${server}/readyz`], { DOMAINDEX_TOKEN: tokens.local }, 'network', /^domaindex: /],
    ]
    for (const [args, env, cause, message] of cases) {
      const { code, stdout, stderr } = await ask(args, env)
      assert.deepEqual([code, stdout], [EXIT_CODES[cause][0], ''], `${args.join(' ')}: ${stderr}`)
      assert.match(stderr, message)
      assert.doesNotMatch(stderr, /^ +at /m)
    }
  })

  test('a spent quota ends the command after the rows that it paid for, and says which queries are left', async () => {
    const names = Array.from({ length: 9 }, () => 'example.com')
    const { code, stdout, stderr } = await ask(['lookup', ...names], { DOMAINDEX_TOKEN: tokens.spent })
    assert.equal(code, EXIT_CODES.quota[0])
    assert.equal(stdout.trim().split('\n').length, FREE_CALLS)
    assert.match(stderr, /^domaindex: not answered: 7 of 9 queries; the first is example\.com$/m)
    const quota = await ask(['quota'], { DOMAINDEX_TOKEN: tokens.spent })
    const { limit, used, remaining } = JSON.parse(quota.stdout)
    assert.deepEqual([limit, used, remaining, quota.code], [FREE_CALLS, FREE_CALLS, 0, 0])
  })

  test('a quota that is spent between two pages ends the command with the cursor of the next page', async () => {
    const first = await ask(['redirect', 'example.com', '--all', '--csv'], { DOMAINDEX_TOKEN: tokens.paging })
    assert.equal(first.stdout, 'query,target\nexample.com,example.blog\nexample.com,example.shop\n')
    assert.equal(first.code, EXIT_CODES.quota[0])
    const [, next = ''] =
      /^domaindex: example\.com: more rows follow: continue with --next (\S+)$/m.exec(first.stderr) ?? []
    const rest = await ask(['redirect', 'example.com', '--all', '--next', next], { DOMAINDEX_TOKEN: tokens.local })
    assert.equal(rest.stdout, '{"query":"example.com","target":"old.example.org"}\n')
  })

  test('a token file must belong to its owner alone', async () => {
    const file = path('token')
    writeFileSync(file, `${tokens.local}\n`)
    chmodSync(file, 0o640)
    const open = await ask(['lookup', 'example.com', '--token-file', file])
    assert.equal(open.code, EXIT_CODES.token[0])
    assert.match(open.stderr, /others have access to it: run chmod 600/)
    chmodSync(file, 0o600)
    assert.equal((await ask(['lookup', 'example.com', '--token-file', file])).code, 0)
    assert.equal((await ask(['lookup', 'example.com', '--token-file', path('none')])).code, EXIT_CODES.usage[0])
  })

  test('login checks the token from standard input and keeps it for this server only', async () => {
    const env = { XDG_CONFIG_HOME: path('config'), DOMAINDEX_SERVER: server }
    mkdirSync(path('config'))
    const refused = await run(['login'], { env, input: tokens.invalid })
    assert.equal(refused.code, EXIT_CODES.token[0])
    const kept = await run(['login', '--json'], { env, input: `${tokens.local}\n` })
    assert.deepEqual([kept.code, kept.stderr], [0, ''])
    const { path: file } = JSON.parse(kept.stdout)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { [server]: tokens.local })
    assert.equal((await run(['lookup', 'example.com'], { env })).code, 0)
    const other = { ...env, DOMAINDEX_SERVER: 'http://127.0.0.1:1' }
    assert.equal((await run(['lookup', 'example.com'], { env: other })).code, EXIT_CODES.token[0])
    chmodSync(file, 0o644)
    assert.match((await run(['quota'], { env })).stderr, /others have access to it/)
    chmodSync(file, 0o600)
    assert.equal((await run(['login', '--remove'], { env })).code, 0)
    assert.equal((await run(['quota'], { env })).code, EXIT_CODES.token[0])
  })

  test('a stopped command prints the cursor of the next page, and ends by the signal', async (t) => {
    let pages = 0
    const stub = createServer((_request, response) => {
      if (++pages > 1) return // never answered
      const meta = { query: 'example.com', rcode: 200, msg: 'ok', next: 'the-cursor' }
      response.end(JSON.stringify({ meta, result: [{ target: 'first.example' }] }))
    })
    stub.listen(0, '127.0.0.1')
    t.after(() => {
      stub.closeAllConnections()
      stub.close()
    })
    await until(() => stub.listening)
    const address = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`
    const child = start(['redirect', 'example.com', '--all', '--server', address], { DOMAINDEX_TOKEN: 'token' })
    const outcome = outcomeOf(child)
    await until(() => pages > 1)
    child.kill('SIGINT')
    const { signal, code, stdout, stderr } = await outcome
    assert.equal(signal ?? code, signal === null ? 130 : 'SIGINT')
    assert.equal(stdout, '{"query":"example.com","target":"first.example"}\n')
    assert.match(stderr, /continue with --next the-cursor\n/)
  })
})
