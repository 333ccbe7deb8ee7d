/** The client commands answer from the local store: queries, formats, exit codes, and no write. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { EXIT_CODES } from '../../../src/cli/program/client-fault.ts'
import { folderOf, outcomeOf } from '../run.ts'
import { noTerminal, runOnTerminal } from './terminal.ts'

const EXAMPLE = new URL('../../../docs/example.jsonl', import.meta.url).pathname
const UNSAFE_TEXT = 'a\u009b31m\u202eb\u2028c'

const folder = folderOf({ after })
const { run, start, path, url } = folder

const jsonLines = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

before(async () => {
  const dns = { status: 'ok', A: ['192.0.2.99'], TXT: [[UNSAFE_TEXT], ['=1+1']] }
  const many = Array.from({ length: 12 }, (_, at) => ({
    domain: 'changes.example',
    observed_at: `2026-01-${String(at + 1).padStart(2, '0')}T00:00:00Z`,
    dns: { status: 'ok', A: [`192.0.2.${100 + at}`] },
  }))
  const lines = [{ domain: 'unsafe.example', observed_at: '2026-11-01T00:00:00Z', dns }, ...many]
  const input = `${readFileSync(EXAMPLE, 'utf8')}${lines.map((line) => JSON.stringify(line)).join('\n')}\n`
  assert.equal((await run(['import', '-'], { input })).code, 0)
  assert.equal((await run(['index'])).code, 0)
})

suite('client commands without a server', { concurrency: 2 }, () => {
  test('lookup answers each query in order, and a query may be a URL or defanged', async () => {
    const args = ['lookup', 'hxxps://Example[.]com/path', 'copy.example', 'old.example.org:443']
    const { code, stdout, stderr } = await run(args)
    const rows = jsonLines(stdout)
    assert.deepEqual(
      rows.map(({ query }) => query),
      ['example.com', 'copy.example', 'old.example.org'],
    )
    assert.deepEqual([rows[0]?.has_website, rows[0]?.redirect_count, code, stderr], ['yes', '3', 0, ''])
  })

  test('a list from a file or standard input may have comments, blank lines and ranks, and may be compressed', async () => {
    const list = '# a list\n\n1,example.com\n  https://copy.example/#top  \r\nexample[.]com # again\n'
    writeFileSync(path('list.gz'), gzipSync(list))
    const expected = ['example.com', 'copy.example', 'example.com']
    for (const [args, input] of [
      [['--file', path('list.gz')], ''],
      [['--file', '-'], list],
      [[], list],
      [['-'], list],
    ] as const) {
      const { code, stdout } = await run(['lookup', '--fields', 'query', ...args], { input })
      assert.deepEqual([jsonLines(stdout).map(({ query }) => query), code], [expected, 0])
    }
  })

  test('more queries than are asked at the same time are answered in their order', async () => {
    const names = Array.from({ length: 30 }, (_, at) => (at % 3 === 0 ? 'example.com' : 'copy.example'))
    const { stdout } = await run(['lookup'], { input: names.join('\n') })
    assert.deepEqual(
      jsonLines(stdout).map(({ query }) => query),
      names,
    )
  })

  test('each command gives the rows of its endpoint', async () => {
    const redirects = await run(['redirect', 'example.com', '--fields', 'target'])
    assert.deepEqual(jsonLines(redirects.stdout), [
      { target: 'example.blog' },
      { target: 'example.shop' },
      { target: 'old.example.org' },
    ])
    const neighbours = await run(['reverseip', '198[.]51.100.7', '--csv'])
    assert.match(neighbours.stdout, /^query,target,ip,since\n198\.51\.100\.7,example\.com,198\.51\.100\.7,20/)
    const similar = await run(['similar', 'example.com', '--limit', '1', '--csv'])
    assert.equal(similar.stdout, 'query,target,similarity\nexample.com,copy.example,1.0000\n')
    const history = await run(['dnshistory', 'example.com', '--type', 'mx'])
    const [state] = jsonLines(history.stdout)
    assert.deepEqual(state, {
      query: 'example.com',
      type: 'MX',
      first_seen: '2025-03-01T04:20:00',
      records: [{ priority: 10, mail_server: 'mx.example.net' }],
    })
    assert.deepEqual(jsonLines((await run(['quota'])).stdout)[0]?.limit, null)
  })

  test('CSV has no formulas', async () => {
    const { stdout } = await run(['dnshistory', 'unsafe.example', '--type', 'TXT', '--csv', '--fields', 'record'])
    assert.doesNotMatch(stdout, /^"?[=+@-]/m)
  })

  test('without --limit and --all one page is printed, and a partial result has exit code 8 and says how to continue', async () => {
    const first = await run(['dnshistory', 'changes.example', '--type', 'A'])
    assert.deepEqual([jsonLines(first.stdout).length, first.code], [10, EXIT_CODES.partial[0]])
    const [, next = ''] =
      /^domaindex: changes\.example: more rows follow: continue with --type A --next (\S+)\n$/.exec(first.stderr) ?? []
    const second = await run(['dnshistory', 'changes.example', '--next', next])
    assert.deepEqual([jsonLines(second.stdout).length, second.code, second.stderr], [2, 0, ''])
  })

  test('--all follows all pages, with one type and with all types', async () => {
    for (const args of [['--type', 'A'], []]) {
      const { stdout, code, stderr } = await run(['dnshistory', 'changes.example', '--all', ...args])
      assert.deepEqual([new Set(stdout.split('\n')).size - 1, code, stderr], [12, 0, ''])
    }
  })

  test('--limit prints at most so many rows, without loss or repetition after --next, and its exit code is 0', async () => {
    const all = jsonLines((await run(['redirect', 'example.com'])).stdout)
    const start = await run(['redirect', 'example.com', '--limit', '2'])
    const [, next = ''] = /continue with --next (\S+)\n$/.exec(start.stderr) ?? []
    const rest = await run(['redirect', 'example.com', '--limit', '2', '--next', next])
    assert.deepEqual([...jsonLines(start.stdout), ...jsonLines(rest.stdout)], all)
    assert.deepEqual([start.code, rest.code, rest.stderr], [0, 0, ''])
    const states = await run(['dnshistory', 'changes.example', '--limit', '11'])
    assert.equal(jsonLines(states.stdout).length, 11)
    assert.match(states.stderr, /--type A --next 2026-01-02T00:00:00\n$/)
  })

  test('a failed query does not stop the others, and the exit code names the cause', async () => {
    for (const [args, cause] of [
      [['lookup', 'unknown.example'], 'noData'],
      [['lookup', 'unknown.example', 'unknown2.example'], 'noData'],
      [['reverseip', '192.0.2.250'], 'noData'],
      [['redirect', 'unknown.example'], 'ok'],
      [['lookup', 'no name'], 'usage'],
      [['lookup', '192.0.2.1'], 'usage'],
      [['reverseip', '192.0.2.0/24'], 'usage'],
      [['lookup', 'unknown.example', 'example.com'], 'partial'],
      [['lookup', 'unknown.example', 'no name'], 'partial'],
      [['redirect', 'example.com', '--next', 'wrong'], 'usage'],
    ] as const) {
      const { code, stdout, stderr } = await run([...args])
      assert.deepEqual([code, stderr === ''], [EXIT_CODES[cause][0], cause === 'ok'], args.join(' '))
      assert.equal(stdout === '', !args.includes('example.com' as never) || args.includes('wrong' as never))
    }
  })

  test('without a query, the command says how to pass one', async () => {
    const { code, stdout, stderr } = await run(['lookup'])
    assert.deepEqual([code, stdout], [EXIT_CODES.usage[0], ''])
    assert.match(stderr, /^domaindex: no query: name domains or addresses, or pass a list with --file or .*\n$/)
  })

  test('if the reader of the rows leaves before the end, the exit code is that of a partial result', async () => {
    const child = start(['lookup'])
    child.stdin.on('error', () => {}) // the command may end before it has read everything
    child.stdin.end('example.com\n'.repeat(20_000))
    child.stdout.once('data', () => child.stdout.destroy())
    const { code, stderr } = await outcomeOf(child)
    assert.deepEqual([code, stderr], [EXIT_CODES.partial[0], ''])
  })

  test('nothing is written: the files of the store stay as they are', async () => {
    const files = [path('store.db'), path('store-ledger.db')]
    const digests = files.map(digestOf)
    for (const args of [['lookup', 'unknown.example'], ['redirect', 'example.com', '--limit', '1'], ['quota']])
      await run(args)
    assert.deepEqual(files.map(digestOf), digests)
    assert.deepEqual(JSON.parse((await run(['account', 'usage', '--json'])).stdout).usage, [])
  })

  test('control characters and bidirectional overrides reach no terminal, and JSON has them as escapes', async () => {
    const { stdout } = await run(['dnshistory', 'unsafe.example', '--type', 'TXT'])
    assert.doesNotMatch(stdout, /[\u0080-\u009f\u202e\u2028]/)
    const [row] = jsonLines(stdout)
    const records = row!.records as { text: string }[]
    assert.ok(records.some(({ text }) => text === UNSAFE_TEXT))
  })

  test('on a terminal there is a table with colours unless NO_COLOR is set', { skip: noTerminal }, async () => {
    const env = { DOMAINDEX_STORE: url }
    const args = ['redirect', 'example.com']
    const coloured = await runOnTerminal(path('.'), args, env)
    const [header, row] = coloured.shown.split('\r\n')
    assert.deepEqual([header, row], ['\u001b[1mQUERY        TARGET\u001b[22m', 'example.com  example.blog'])
    const plain = await runOnTerminal(path('.'), args, { ...env, NO_COLOR: '1' })
    assert.match(plain.shown, /^QUERY +TARGET\r\nexample\.com +example\.blog\r\n/)
    assert.equal(plain.code, 0)
  })

  test('on a terminal, TXT records and messages are shown without their control characters', {
    skip: noTerminal,
  }, async () => {
    const env = { DOMAINDEX_STORE: url, NO_COLOR: '1' }
    for (const format of [[], ['--csv'], ['--json']]) {
      const args = ['dnshistory', 'unsafe.example', '--type', 'TXT', ...format]
      const { shown } = await runOnTerminal(path('.'), args, env)
      assert.match(shown, format[0] === '--json' ? /a\\u009b31m\\u202eb/ : /a\\u\{9b\}31m\\u\{202e\}b/)
      assert.doesNotMatch(shown, /[\u0080-\u009f\u202e\u2028]/)
    }
    const { shown, code } = await runOnTerminal(path('.'), ['lookup', 'no\u001b]0;title\u0007name'], env)
    assert.match(shown, /no\\u\{1b\}\]0;title\\u\{7\}name: this is neither/)
    assert.equal(code, 2)
  })

  test('without a store the message says what to do', async (t) => {
    const { code, stderr } = await folderOf(t).run(['lookup', 'example.com'])
    assert.equal(code, 1)
    assert.match(stderr, /^domaindex: there is no store at .*DOMAINDEX_SERVER.*\n$/)
  })
})
