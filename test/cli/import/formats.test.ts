/** Tests `domaindex import --format` as a user runs it, with the behaviour of every import. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { IMPORT_FORMATS } from '../../../src/import/formats/import-formats.ts'
import { parseName } from '../../../src/values/domain-name.ts'
import { RECORD_TYPES } from '../../../src/values/records/dns-record.ts'
import { faultsOf } from '../answers.ts'
import { folderOf } from '../run.ts'

const SCAN = fileURLToPath(new URL('../../../../shared/data/zdns/large_scan_expected.jsonl.gz', import.meta.url))

const counts = (stdout: string): string => stdout.replace(/ \(.*\n/, '')
const name = (text: string) => parseName(text)!

/** A line of zdns with the addresses of a name. */
function zdnsLine(domain: string, addresses: readonly string[], timestamp = '2026-01-01T00:00:00Z'): string {
  const answers = addresses.map((answer) => ({ type: 'A', class: 'IN', name: domain, answer, ttl: 300 }))
  return JSON.stringify({ name: domain, results: { A: { status: 'NOERROR', timestamp, data: { answers } } } })
}

function cofLine(rdata: string, time_first: number, time_last: number, rrtype = 'A'): string {
  return JSON.stringify({ rrname: 'example.com.', rrtype, rdata, time_first, time_last, count: 3 })
}

suite('domaindex import --format', { concurrency: 2 }, () => {
  test('plain text, gzip, zstd and standard input are read, and a second import changes nothing', async (t) => {
    const { path, run } = folderOf(t)
    const text = Array.from(
      { length: 50 },
      (_, number) => `${zdnsLine(`name-${number}.example`, ['192.0.2.1'])}\n`,
    ).join('')
    writeFileSync(path('a.json'), text)
    writeFileSync(path('a.json.gz'), gzipSync(text))
    writeFileSync(path('a.json.zst'), zstdCompressSync(text))
    const first = await run(['import', '--format', 'zdns', 'a.json'])
    assert.equal(counts(first.stdout), 'read 50, applied 50, unchanged 0, stale 0, refused 0, passed over 0')
    assert.deepEqual([first.stderr, first.code], ['', 0])
    for (const [file, input] of [['a.json.gz'], ['a.json.zst'], ['-', gzipSync(text)]] as const) {
      const again = await run(['import', '--format', 'zdns', file], input === undefined ? {} : { input })
      assert.equal(counts(again.stdout), 'read 50, applied 0, unchanged 0, stale 50, refused 0, passed over 0')
    }
  })

  test('the lines of a name may be anywhere in the file, in any order', async (t) => {
    const { run, withStore } = folderOf(t)
    const lines = [
      zdnsLine('a.example', ['192.0.2.3'], '2026-01-03T00:00:00Z'),
      zdnsLine('b.example', ['192.0.2.9'], '2026-01-01T00:00:00Z'),
      zdnsLine('a.example', ['192.0.2.1'], '2026-01-01T00:00:00Z'),
      zdnsLine('a.example', ['192.0.2.2'], '2026-01-02T00:00:00Z'),
    ]
    const { stdout } = await run(['import', '--format', 'zdns', '-'], { input: lines.join('\n') })
    assert.equal(counts(stdout), 'read 4, applied 4, unchanged 0, stale 0, refused 0, passed over 0')
    await withStore(async (store) => {
      const { A } = (await store.facts.history(name('a.example'), RECORD_TYPES, null, 10)).byType
      assert.deepEqual(
        A?.states.map(({ first_seen, records }) => [first_seen, JSON.parse(records)]),
        [3, 2, 1].map((day) => [Date.UTC(2026, 0, day) / 1000, [{ ipv4_address: `192.0.2.${day}` }]]),
      )
      assert.deepEqual(await faultsOf(store), [])
    })
  })

  test('rows of passive DNS become the states of /dnshistory, first seen when the records were', async (t) => {
    const { run, withStore } = folderOf(t)
    const rows = [
      cofLine('192.0.2.2', 5000, 9000),
      cofLine('192.0.2.1', 1000, 7000),
      cofLine('10 mx.example.com.', 2000, 3000, 'MX'),
      cofLine('0 5 443 x.example.', 2000, 3000, 'SRV'),
    ]
    const { stdout, code } = await run(['import', '--format', 'cof', '-'], { input: rows.join('\n') })
    assert.equal(counts(stdout), 'read 4, applied 4, unchanged 4, stale 0, refused 0, passed over 1')
    assert.equal(code, 0)
    await withStore(async (store) => {
      const { A, MX } = (await store.facts.history(name('example.com'), RECORD_TYPES, null, 10)).byType
      const addresses = (...last: number[]) => last.map((each) => ({ ipv4_address: `192.0.2.${each}` }))
      assert.deepEqual(
        A?.states.map(({ first_seen, records }) => [first_seen, JSON.parse(records)]),
        [
          [7001, addresses(2)],
          [5000, addresses(1, 2)],
          [1000, addresses(1)],
        ],
      )
      assert.deepEqual(MX?.states[0]?.first_seen, 2000)
      const clocks = await store.facts.clocks(name('example.com'))
      assert.deepEqual(clocks?.dns, 9000)
      assert.deepEqual(await faultsOf(store), [])
    })
  })

  test('rejected lines are reported with number and reason and written by --rejects, and the other lines are applied', async (t) => {
    const { path, run } = folderOf(t)
    const lines = [
      zdnsLine('a.example', ['192.0.2.1']),
      '{"name":',
      '',
      zdnsLine('b.example', ['192.0.2.256']),
      zdnsLine('c.example', ['192.0.2.1'], '2999-01-01T00:00:00Z'),
      'x'.repeat(1_048_577),
      zdnsLine('d.example', ['192.0.2.1']),
    ]
    writeFileSync(path('a.json'), `\ufeff${lines.join('\r\n')}`)
    const { code, stdout, stderr } = await run(['import', '--format', 'zdns', 'a.json', '--rejects', 'rejects.jsonl'])
    assert.deepEqual([code, counts(stdout)], [3, 'read 6, applied 2, unchanged 0, stale 0, refused 4, passed over 0'])
    const rejects = readFileSync(path('rejects.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      stderr.trim().split('\n'),
      rejects.map(({ line, reason }) => `line ${line}: ${reason}`),
    )
    assert.deepEqual(
      rejects.map(({ line }) => line),
      [2, 4, 5, 6],
    )
    assert.match(rejects[1].reason, /^results\.A\.data: A\[0\]: must be an IPv4 address/)
    assert.match(rejects[2].reason, /5 minutes ahead/)
    assert.match(rejects[3].reason, /1048576 are allowed/)
  })

  test('--strict stops at the first rejected line and applies nothing of the file', async (t) => {
    const { run, withStore } = folderOf(t)
    const input = `${zdnsLine('a.example', ['192.0.2.1'])}\n{}\n${zdnsLine('b.example', ['192.0.2.1'])}`
    const { code, stdout, stderr } = await run(['import', '--format', 'zdns', '--strict', '-'], { input })
    assert.deepEqual([code, counts(stdout)], [3, 'read 2, applied 0, unchanged 0, stale 0, refused 1, passed over 0'])
    assert.match(stderr, /line 2: name: must be a domain name\nstopped at line 2 of -/)
    assert.equal(await withStore(({ facts }) => facts.lookup(name('a.example'))), null)
    const open = ';; Server: 192.0.2.53:53\n;; Unix time: 1582650534\n'
    const cut = await run(['import', '--format', 'massdns', '--strict', '-'], { input: open })
    assert.deepEqual([cut.code, cut.stderr.split('\n')[0]], [3, 'line 2: question: is missing'])
  })

  test('if a gzip file is truncated, the complete part is applied and the command fails', async (t) => {
    const { path, run } = folderOf(t)
    const lines = Array.from({ length: 2000 }, (_, number) =>
      zdnsLine(`name-${(number * 7919) % 2000}.example`, [`192.0.2.${number % 251}`]),
    )
    const whole = gzipSync(lines.join('\n'))
    writeFileSync(path('cut.gz'), whole.subarray(0, whole.length / 2))
    const { code, stdout, stderr } = await run(['import', '--format', 'zdns', 'cut.gz'])
    const [, read, applied] = /^read (\d+), applied (\d+), .* refused 0/.exec(stdout) ?? []
    assert.ok(Number(read) > 100 && read === applied, stdout)
    assert.deepEqual([code, stderr], [1, `domaindex: cut.gz: the gzip data is cut off; applied up to line ${read}\n`])
  })

  test('a file that starts without a time is rejected as a whole, and --observed-at supplies the time', async (t) => {
    const { run, withStore } = folderOf(t)
    const input = 'example.com. A 192.0.2.1\nexample.com. A 192.0.2.2\n'
    const refused = await run(['import', '--format', 'massdns', '-'], { input })
    assert.deepEqual(
      [refused.code, refused.stderr],
      [1, 'domaindex: -: line 1 carries no time; --observed-at gives it one; nothing of - is applied\n'],
    )
    const given = await run(['import', '--format', 'massdns', '--observed-at', '2026-02-03T05:05:06+01:00', '-'], {
      input,
    })
    assert.equal(counts(given.stdout), 'read 2, applied 1, unchanged 0, stale 0, refused 0, passed over 0')
    const clocks = await withStore(({ facts }) => facts.clocks(name('example.com')))
    assert.equal(clocks?.dns, Date.UTC(2026, 1, 3, 4, 5, 6) / 1000)
  })

  test('an unknown format, an invalid time, and a time for observations are rejected before a store is created', async (t) => {
    const { path, run } = folderOf(t)
    for (const [args, words] of [
      [
        ['--format', 'bind'],
        /^domaindex: option '--format <name>' argument 'bind' is invalid\. Allowed choices are observations, zdns, /,
      ],
      [['--format', 'zdns', '--observed-at', 'today'], /argument 'today' is invalid\. It must be an RFC 3339 time/],
      [
        ['--observed-at', '2026-01-01T00:00:00Z'],
        /^domaindex: --observed-at is only for --format zdns, massdns, cof\n/,
      ],
    ] as const) {
      const { code, stderr } = await run(['import', ...args, 'a.json'])
      assert.match(stderr, words)
      assert.equal(code, 2)
    }
    assert.equal(existsSync(path('store.db')), false)
  })

  test('the help names the formats', async (t) => {
    const { run } = folderOf(t)
    const { stdout } = await run(['import', '--help'])
    for (const format of ['observations', ...Object.keys(IMPORT_FORMATS)])
      assert.ok(stdout.includes(`"${format}"`), format)
    assert.match(stdout, /--observed-at/)
  })

  test('a signal while the file is read applies nothing and leaves nothing in the temporary folder', async (t) => {
    const { path, start, withStore } = folderOf(t)
    mkdirSync(path('temporary'))
    const child = start(['import', '--format', 'zdns', '-'], { TMPDIR: path('temporary') })
    let stderr = ''
    child.stderr.on('data', (text) => (stderr += text))
    child.stdin.write(`${zdnsLine('a.example', ['192.0.2.1'])}\n`)
    child.stdin.write(`{}\n`)
    await new Promise((resolve) => child.stderr.once('data', resolve)) // both lines were read
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('close', resolve))
    assert.match(stderr, /stopped after line 2 of -; nothing of - is applied; run it again to continue/)
    assert.deepEqual(readdirSync(path('temporary')), [])
    assert.equal(await withStore(({ facts }) => facts.lookup(name('a.example'))), null)
  })

  test('10,000 names of a scan are imported completely, and check finds nothing', {
    skip: !existsSync(SCAN) && 'the sample data is not here',
  }, async (t) => {
    const { run, withStore } = folderOf(t)
    const scan = gunzipSync(readFileSync(SCAN)).toString().trim().split('\n')
    const lines = scan.map((line) => {
      const { domain, IPs } = JSON.parse(line)
      return zdnsLine(`${domain}.`, IPs)
    })
    const { stdout } = await run(['import', '--format', 'zdns', '-'], { input: lines.join('\n') })
    assert.equal(counts(stdout), 'read 10000, applied 10000, unchanged 0, stale 0, refused 0, passed over 0')
    await withStore(async (store) => {
      for (const line of scan.filter((_, index) => index % 500 === 0)) {
        const { domain, IPs } = JSON.parse(line)
        const { addresses } = await store.facts.neighboursOf(name(domain), null, 1)
        assert.deepEqual(addresses.toSorted(), IPs.toSorted())
      }
      assert.deepEqual(await faultsOf(store), [])
    })
  })
})
