/** Tests `domaindex import` of zones, lists and the inbox as a user runs it, including imports that do not finish. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { suite, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { addNames } from '../../../src/registrations/add-names.ts'
import { parseName } from '../../../src/values/domain-name.ts'
import { filesOf, zoneOf } from '../../registrations/world.ts'
import { until } from '../../until.ts'
import { faultsOf } from '../answers.ts'
import { folderOf, killAfter, outcomeOf } from '../run.ts'

const NAMES = 8_000
/** About the number of bytes that an import of the first zone writes: store, log and lists. */
const MAX_WRITTEN = 1_100_000
const names = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, number) => `name-${(number + from) * 7919}`)
/** Runs above which an import merges, and a number of runs above it. */
const MAX_RUNS = 256
const MANY_RUNS = 300
const FIRST = gzipSync(zoneOf(names(0, NAMES)))
const SECOND = gzipSync(zoneOf(names(500, NAMES)))
const counts = (stdout: string): string => stdout.replace(/ \(.*?\)/, '')

/** Creates a folder with the zones of two days. */
function zonesIn(t: TestContext) {
  const folder = folderOf(t)
  writeFileSync(folder.path('test-2026-11-18.zone.gz'), FIRST)
  writeFileSync(folder.path('test-2026-11-19.zone.gz'), SECOND)
  const take = (day: string, ...more: string[]) =>
    folder.run(['import', '--format', 'zone', `test-2026-11-${day}.zone.gz`, ...more])
  return { ...folder, take }
}

suite('domaindex import of registrations', { concurrency: 2 }, () => {
  test('an import prints its summary, and a second one reports that nothing has changed', async (t) => {
    const { take, withStore } = zonesIn(t)
    const first = await take('18')
    assert.equal(
      counts(first.stdout),
      `zone:test 2026-11-18, names 8000, registered 0, dropped 0, unusable 0, new 8000\nthere is no zone from the week before 2026-11-18, so nothing counts as registered or dropped\n`,
    )
    const second = await take('19')
    assert.deepEqual([second.code, second.stderr], [0, ''])
    assert.equal(
      counts(second.stdout),
      'zone:test 2026-11-19, names 8000, registered 500, dropped 500, unusable 0, new 500\n',
    )
    assert.match((await take('19')).stdout, /new 0 .*\nit was imported before, and nothing has changed\n$/)
    await withStore(async (store) => {
      assert.notEqual(await store.facts.lookup(parseName(`${names(500, NAMES).at(-1)}.test`)!), null)
      assert.deepEqual(await faultsOf(store), [])
    })
  })

  test('an import of a zone merges runs of the index if there are many', async (t) => {
    const { take, withStore } = zonesIn(t)
    const runs = () => withStore(async (store) => (await store.inverseIndex.runs()).length)
    await withStore(async (store) => {
      const context = { store, signal: new AbortController().signal, onAdded() {} }
      const batches = async function* () {
        for (const each of names(NAMES, MANY_RUNS)) yield [parseName(`${each}.test`)!]
      }
      await addNames(batches(), { insertsUnknown: true, makesDue: false }, context)
    })
    assert.ok((await runs()) > MAX_RUNS)
    assert.equal((await take('18')).code, 0)
    assert.ok((await runs()) <= MAX_RUNS)
  })

  test('if an import is killed at random moments and then run again, the days and names are the same', async (t) => {
    const whole = zonesIn(t)
    await whole.take('18')
    await whole.take('19')
    const { path, start, take, withStore } = zonesIn(t)
    const killed = async (day: string): Promise<void> => {
      const child = start(['import', '--format', 'zone', `test-2026-11-${day}.zone.gz`])
      const outcome = outcomeOf(child)
      await killAfter(child, path('.'), Math.random() * MAX_WRITTEN)
      await outcome
    }
    for (let kill = 0; kill < 3; kill++) await killed('18')
    assert.equal((await take('18')).code, 0)
    for (let kill = 0; kill < 3; kill++) await killed('19')
    assert.equal((await take('19')).code, 0)
    const known = (folder: typeof whole): Promise<boolean[]> =>
      folder.withStore(async ({ observations: frontier }) => {
        const all = names(0, NAMES + 600).map((label) => parseName(`${label}.test`)!)
        return (await frontier.crawlStates(all)).map(({ version }) => version > 0)
      })
    assert.deepEqual(filesOf(path('data/zones')), filesOf(whole.path('data/zones')))
    assert.deepEqual(await known({ ...whole, withStore }), await known(whole))
    assert.deepEqual(await withStore(faultsOf), [])
  })

  test('a signal ends an import, and nothing of the file is applied', async (t) => {
    const { start, run, path } = zonesIn(t)
    await run(['import', '--format', 'names', '-', '--date', '2026-11-18'], { input: 'a.example\n' })
    const files = filesOf(path('data/zones'))
    const child = start(['import', '--format', 'zone', '-', '--date', '2026-11-18'])
    const outcome = outcomeOf(child)
    child.stdin.on('error', () => {})
    child.stdin.write(zoneOf(['a']))
    await until(() => filesOf(path('data/zones')).some(([file]) => file === '/lock'))
    child.kill('SIGINT')
    const { stdout, stderr, ...ended } = await outcome
    assert.deepEqual([ended, stdout], [{ code: null, signal: 'SIGINT' }, ''])
    assert.equal(stderr, 'stopped; the import of - is incomplete: run it again\n')
    assert.deepEqual(filesOf(path('data/zones')), files)
  })

  test('unusable lines are reported and written by --rejects, and --strict applies nothing of such a file', async (t) => {
    const { path, run } = folderOf(t)
    const input = `${zoneOf(['a', '*', 'b'])}c\\.d.test. NS n\n`
    const strict = await run(['import', '--format', 'zone', '-', '--date', '2026-11-18', '--strict'], { input })
    assert.deepEqual([strict.code, strict.stdout], [3, ''])
    assert.equal(
      strict.stderr,
      'line 3: the owner of a delegation is not a valid name\nstopped at line 3; nothing of - is imported\n',
    )
    const { code, stdout } = await run(
      ['import', '--format', 'zone', '-', '--date', '2026-11-18', '--rejects', 'rejects'],
      { input },
    )
    assert.deepEqual(
      [code, counts(stdout).split('\n')[0]],
      [3, 'zone:test 2026-11-18, names 2, registered 0, dropped 0, unusable 2, new 2'],
    )
    const rejects = readFileSync(path('rejects'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      rejects.map(({ line, length, text }) => [line, length, text]),
      [
        [3, 6, '*.test'],
        [5, 8, 'c\0d.test'],
      ],
    )
    const list = await run(['import', '--format', 'names', '-', '--date', '2026-11-18'], {
      input: 'x.example\nb?d\n\n',
    })
    assert.deepEqual([list.code, /names 1, registered 1, dropped 0, unusable 1, new 1/.test(list.stdout)], [3, true])
    assert.match(list.stderr, /^line 2: /)
  })

  test('--no-registrations adds the names of a list, prints its summary, and writes no day', async (t) => {
    const { path, run, withStore } = folderOf(t)
    const args = ['import', '--format', 'names', '--no-registrations', '-']
    const { code, stdout, stderr } = await run(args, { input: '# top sites\n1,a.example\n2,b.example\n3,192.0.2.1\n' })
    assert.deepEqual([code, counts(stdout)], [3, 'names 2, unusable 1, new 2\n'])
    assert.equal(stderr, 'line 4: an address is no domain name; send a bare domain name such as example.com\n')
    assert.equal(existsSync(path('data/zones')), false)
    assert.notEqual(await withStore(({ facts }) => facts.lookup(parseName('b.example')!)), null)
  })

  test('the day and the zone come from the options, the file or the serial, and ambiguous ones are rejected', async (t) => {
    const { path, run } = folderOf(t)
    const zone = (serial: number): string => `@ SOA a b ${serial} 2 3 4 5\na NS n\n`
    writeFileSync(path('co.uk-20261117.txt'), zone(2026111801))
    const ran = async (args: string[], input?: string): Promise<string> => {
      const { stdout, stderr } = await run(['import', '--format', 'zone', ...args], { input: input ?? '' })
      return (stderr || stdout).split(', names')[0]!
    }
    assert.equal(await ran(['co.uk-20261117.txt', '--tld', 'CO.uk.']), 'zone:co.uk 2026-11-17')
    assert.equal(await ran(['-', '--tld', '\u0440\u0444'], zone(1702002300)), 'zone:xn--p1ai 2023-12-08')
    assert.match(await ran(['-', '--tld', 'a'], zone(17)), /its day is unknown: set it with --date YYYY-MM-DD/)
    assert.match(await ran(['-'], zone(17)), /a relative name precedes any \$ORIGIN: name the zone with --tld/)
    assert.match(await ran(['-', '--tld', '.'], zone(17)), /is not the name of a zone/)
  })

  test('incompatible options are rejected', async (t) => {
    const { run, path } = folderOf(t)
    for (const [args, words] of [
      [[], /name the file, or - for standard input/],
      [['--inbox', '--strict'], /--strict cannot be used with --inbox/],
      [['a', '--tld', 'com'], /--tld is only for --format zone/],
      [['a', '--no-registrations'], /--no-registrations is only for --format names/],
      [
        ['-', '--format', 'names', '--no-registrations', '--date', '2026-11-19'],
        /--date cannot be used with --no-registrations/,
      ],
      [
        ['-', '--format', 'names', '--no-registrations', '--list', 'a'],
        /--list cannot be used with --no-registrations/,
      ],
      [['a', '--format', 'zone'], /a cannot be read: no such file or directory/],
      [['-', '--format', 'names', '--list', '../x', '--date', '2026-11-19'], /--list allows at most 64 characters/],
    ] as const) {
      const { code, stderr } = await run(['import', ...args])
      assert.match(stderr, words)
      assert.equal(code, /cannot be read/.test(stderr) ? 1 : 2)
    }
    assert.equal(existsSync(path('data/zones')), false)
  })

  test('--inbox imports the files of the inbox and reports the result of each', async (t) => {
    const { path, run } = folderOf(t)
    const env = { DOMAINDEX_INBOX: path('in') }
    assert.equal((await run(['import', '--inbox'], { env })).stdout, 'the inbox is empty\n')
    mkdirSync(path('in'))
    writeFileSync(path('in/test-2026-11-18.zone.gz'), FIRST)
    writeFileSync(path('in/2026-11-19.names'), 'a.example\n')
    utimesSync(path('in/test-2026-11-18.zone.gz'), 1, 1)
    const tomorrow = Date.now() / 1000 + 86_400 // in the future however slow the test is
    utimesSync(path('in/2026-11-19.names'), tomorrow, tomorrow)
    writeFileSync(path('in/com.zone.gz'), FIRST)
    const { code, stdout, stderr } = await run(['import', '--inbox'], { env })
    assert.equal(code, 3)
    assert.match(stderr, /^com\.zone\.gz: its name does not say what it is: name it ZONE-YYYY-MM-DD\.zone, /)
    assert.deepEqual(stdout.trim().split('\n'), [
      'test-2026-11-18.zone.gz: zone:test 2026-11-18, names 8000, registered 0, dropped 0, unusable 0, new 8000',
      'test-2026-11-18.zone.gz: there is no zone from the week before 2026-11-18, so nothing counts as registered or dropped',
      '2026-11-19.names: left in the inbox, its time lies ahead',
    ])
  })
})
