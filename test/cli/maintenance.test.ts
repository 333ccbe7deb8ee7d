/** Tests `domaindex check`, `sizes`, `prune` and `migrate`, and the messages for mistyped commands. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { recordSizes } from '../../src/store/size-history.ts'
import { readMeasuredTables } from '../../src/store/table-sizes.ts'
import { parseName } from '../../src/values/domain-name.ts'
import type { Day } from '../../src/values/time.ts'
import { parsePage } from '../store/conformance/reading/paging.ts'
import { fileOf, lineOf, nameOf } from './import/lines.ts'
import { folderOf } from './run.ts'

type SizeReport = {
  measured: string
  tables: { name: string; bytes: number; index_bytes: number; rows: number | null }[]
  names: number | null
  places: { place: string; bytes: number; growth_per_day: number | null }[]
  recorded_days: number
  disks: { places: string[]; free: number; growth_per_day: number | null; days_left: number | null }[]
}

/** A change that only touches the current facts. */
const NOTHING_MOVED = {
  superseded: [],
  interruptions: [],
  firstSeen: [],
  arrived: [],
  left: [],
  terms: undefined,
  certificates: [],
  setChanges: [],
  transitions: [],
}

suite('upkeep', { concurrency: 2 }, () => {
  test('check reports that nothing is wrong, or one line per fault with exit code 1', async (t) => {
    const { run, path } = folderOf(t)
    await run(['import', '-'], { input: fileOf(50, 2) })
    const clean = await run(['check'])
    assert.match(clean.stdout, /^checked \d+ rows, faults 0\n$/)
    assert.equal(clean.code, 0)
    const database = new DatabaseSync(path('store.db'))
    database.exec('update redirect_count set sources = sources + 1')
    database.close()
    const wrong = await run(['check'])
    assert.match(wrong.stdout, /^redirect_count target\.example: .+\nchecked \d+ rows, faults 1\n$/)
    assert.equal(wrong.code, 1)
    const { faults, checked } = JSON.parse((await run(['check', '--json'])).stdout)
    assert.deepEqual([faults.length, faults[0].table, checked > 100], [1, 'redirect_count', true])
  })

  test('check --repair mends what follows from the facts, and says what is left and what to do', async (t) => {
    const { run, path } = folderOf(t)
    await run(['import', '-'], { input: fileOf(50, 2) })
    const change = (sql: string): void => {
      const database = new DatabaseSync(path('store.db'))
      database.exec(sql)
      database.close()
    }
    change(
      'update redirect_count set sources = sources + 1; delete from presence where name = (select min(name) from facts)',
    )
    const mended = await run(['check', '--repair'])
    assert.match(mended.stdout, /^repaired crawl_state \S+: is not listed on /m)
    assert.match(mended.stdout, /^checked \d+ rows, faults (\d+), repaired \1, left 0\n$/m)
    assert.equal(mended.code, 0)
    assert.match((await run(['check'])).stdout, /faults 0/)
    change(`update facts set states = '{' where name = '${nameOf(6)}'; delete from redirect_count`)
    const left = await run(['check', '--repair', '--json'])
    const result = JSON.parse(left.stdout)
    assert.deepEqual(Object.keys(result), ['checked', 'faults', 'repaired', 'left'])
    assert.equal(result.faults.length, result.repaired.length + result.left.length)
    assert.ok(result.repaired.some(({ table }: { table: string }) => table === 'redirect'))
    const [lost] = result.left
    assert.deepEqual([lost.table, lost.key, left.code], ['facts', nameOf(6), 1])
    assert.match(lost.todo, /^forget the name/)
    assert.equal((await run(['forget', lost.key])).code, 0)
    assert.equal((await run(['check', '--repair'])).code, 0)
  })

  test('sizes measures the tables of both files, and keeps the measurement for the page', async (t) => {
    const { run, path, withStore } = folderOf(t)
    await run(['import', '-'], { input: fileOf(300) })
    const { code, stdout } = await run(['sizes', '--json'])
    const report = JSON.parse(stdout) as SizeReport
    const { measured, tables } = report
    assert.equal(code, 0)
    assert.match(measured, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const names = tables.map(({ name }) => name)
    for (const name of ['facts', 'crawl_state', 'dns_state', 'ledger.account']) assert.ok(names.includes(name), name)
    const bytes = tables.filter(({ name }) => !name.startsWith('ledger.')).reduce((sum, table) => sum + table.bytes, 0)
    assert.ok(bytes > 4_096 && bytes <= statSync(path('store.db')).size)
    const rows = Object.fromEntries(tables.map(({ name, rows }) => [name, rows]))
    assert.deepEqual([rows.facts, rows.crawl_state, report.names, rows['ledger.account']], [300, 300, 300, 0])
    for (const { name, bytes, index_bytes } of tables) assert.ok(index_bytes < bytes, name)
    assert.deepEqual([report.recorded_days, report.disks[0]!.growth_per_day], [0, null])
    const printed = (await run(['sizes'])).stdout
    assert.match(printed, /^facts +[\d,]+ bytes +[\d,]+ bytes +300 +\d+\.\d$/m)
    assert.match(printed, /^disk of store, files, zones, inbox: [\d,]+ bytes free, its growth is unknown: /m)
    await withStore(async (store) => {
      for (let day = 1; day <= 9; day++)
        await recordSizes(store.maintenance, {
          ...{ day: `2026-10-0${day}` as Day, store: 1000 * day, files: 500 * day, zones: 0, inbox: 0 },
        })
    })
    const later = JSON.parse((await run(['sizes', '--json'])).stdout) as typeof report
    assert.deepEqual(
      later.places.map(({ place, growth_per_day }) => [place, growth_per_day]),
      [
        ['store', 1000],
        ['files', 500],
        ['zones', 0],
        ['inbox', 0],
      ],
    )
    assert.equal(later.disks[0]!.growth_per_day, 1500)
    const kept = await withStore(({ maintenance }) => readMeasuredTables(maintenance))
    assert.deepEqual(kept?.tables.map(({ name }) => name).toSorted(), names.toSorted())
  })

  test('prune removes old history by the settings, and with --dry-run says what it would remove', async (t) => {
    const { run } = folderOf(t)
    const line = (year: number) =>
      `{"domain":"a.example","observed_at":"${year}-01-01T00:00:00Z","dns":{"status":"ok","A":["192.0.2.${year - 2000}"]}}`
    await run(['import', '-'], { input: [2020, 2021, 2022].map(line).join('\n') })
    const env = { DOMAINDEX_KEEP_HISTORY: 'A:1y' }
    const kept = { states: 0, names: 0, usage: 0, audit: 0, expired: 0, files: 0, days: 0, inbox: 0 }
    const removed = { ...kept, states: 2, names: 1 }
    const dry = await run(['prune', '--dry-run', '--json'], { env })
    assert.deepEqual([dry.code, JSON.parse(dry.stdout)], [0, { dry_run: true, removed }])
    assert.match((await run(['prune', '--dry-run'], { env })).stdout, /^kind +to remove\nsuperseded states +2\n/)
    assert.deepEqual(JSON.parse((await run(['prune', '--json'])).stdout).removed, kept)
    assert.match((await run(['prune'], { env })).stdout, /^kind +removed\nsuperseded states +2\n/)
    assert.deepEqual(JSON.parse((await run(['prune', '--json'], { env })).stdout), { dry_run: false, removed: kept })
    assert.equal((await run(['check'])).code, 0)
    const { runs } = JSON.parse((await run(['jobs', '--json'])).stdout) as { runs: { job: string; rows: number }[] }
    assert.deepEqual(runs.map(({ job, rows }) => [job, rows]).toSorted(), [
      ['prune', 0],
      ['prune', 0],
      ['prune', 2],
    ])
  })

  test('retarget updates the targets that an older list determined, and prints their number', async (t) => {
    const { run, withStore } = folderOf(t)
    const web = '"has_website":false,"redirect_to_https":false,"redirect_to_www":false,"only_with_www":false'
    const line = (domain: string, to: string) =>
      `{"domain":"${domain}","observed_at":"2026-11-20T03:04:05Z","web":{${web},"redirects_to":"${to}","ssl":"nocert","social_accounts":[]}}`
    await run(['import', '-'], { input: `${line('a.example', 'www.shop.co.uk')}\n${line('b.example', 'c.example')}` })
    await withStore(async ({ observations: frontier }) => {
      const name = parseName('a.example')!
      const [[visit], [current]] = await Promise.all([frontier.crawlStates([name]), frontier.currentFacts([name])])
      assert.equal(current?.web?.redirects_to, 'shop.co.uk')
      const older = {
        state: visit!,
        facts: {
          ...NOTHING_MOVED,
          current: { ...current!, web: { ...current!.web!, redirects_to: parseName('co.uk') } },
        },
      }
      await frontier.save([
        {
          ...older,
          facts: { ...older.facts, redirectBefore: parseName('shop.co.uk'), redirectAfter: parseName('co.uk') },
        },
      ])
    })
    const { stdout, code } = await run(['retarget', '--json'])
    const { list, ...rest } = JSON.parse(stdout)
    assert.deepEqual([code, rest], [0, { checked: 2, changed: 1, done: true, resumed: false }])
    assert.match(list, /^tldts \d/)
    assert.equal((await run(['retarget'])).stdout, 'checked 2 names, changed 0 targets\n')
    assert.equal((await run(['check'])).code, 0)
    await withStore(async ({ facts }) => {
      const { rows } = parsePage(await facts.redirects(parseName('shop.co.uk')!, null, 10))
      assert.deepEqual(rows, [{ target: 'a.example' }])
    })
  })

  test('migrate has nothing to do if the store is of this release', async (t) => {
    const { run, withStore } = folderOf(t)
    await withStore(async () => {})
    for (const args of [['migrate', '--plan'], ['migrate']]) {
      const { code, stdout } = await run(args)
      assert.deepEqual([code, stdout], [0, 'the store is up to date\n'])
    }
  })

  test('migrate does not create a missing file', async (t) => {
    const { run, path, withStore } = folderOf(t)
    await withStore(async () => {})
    rmSync(path('store-ledger.db'))
    await run(['migrate', '--plan'])
    assert.equal(existsSync(path('store-ledger.db')), false)
  })

  test('an empty file that a dead process left becomes a store like any other', async (t) => {
    const { run, path } = folderOf(t)
    writeFileSync(path('store.db'), '')
    writeFileSync(path('store-ledger.db'), '')
    assert.equal((await run(['import', '-'], { input: lineOf(1) })).code, 0)
    for (const name of ['store.db', 'store-ledger.db']) {
      const database = new DatabaseSync(path(name), { readOnly: true })
      assert.equal(database.prepare('pragma journal_mode').get()?.journal_mode, 'wal')
      assert.equal(database.prepare('pragma auto_vacuum').get()?.auto_vacuum, 2)
      database.close()
    }
  })

  test('only the owner can read the ledger, which contains the secrets of the installation', async (t) => {
    const { path, withStore } = folderOf(t)
    await withStore(async () => {})
    assert.equal(statSync(path('store-ledger.db')).mode & 0o777, 0o600)
  })

  test('rotate-secret creates a new secret, but not if the operator supplied one', async (t) => {
    const { run, withStore } = folderOf(t)
    const numbers = () =>
      withStore(async ({ ledger, now }) => (await ledger.secrets(await now())).map(({ number }) => number))
    const before = await numbers()
    assert.equal((await run(['rotate-secret'])).code, 0)
    const after = await numbers()
    assert.deepEqual([before.length, after.length, after.includes(before[0]!)], [1, 2, true])
    const refused = await run(['rotate-secret'], {
      env: { DOMAINDEX_SECRET: 'a secret of at least thirty-two characters' },
    })
    assert.match(refused.stderr, /^domaindex: .*DOMAINDEX_SECRET/)
  })

  test('a folder and a file that is not a database are refused with a message that says what to do', async (t) => {
    const { run, path } = folderOf(t)
    mkdirSync(path('folder'))
    writeFileSync(path('text'), 'no database at all, and long enough to be read as the header of one'.repeat(9))
    const check = (name: string) => run(['check'], { env: { DOMAINDEX_STORE: `sqlite:${path(name)}` } })
    assert.match(
      (await check('text')).stderr,
      /text cannot be opened: the file is not a database: set DOMAINDEX_STORE to another file\n$/,
    )
    assert.match(
      (await check('folder')).stderr,
      /folder cannot be opened: the store is a folder or not accessible: .*\n$/,
    )
  })

  test('a command that needs a store reports that it is missing, and creates none', async (t) => {
    const { run, path } = folderOf(t)
    for (const args of [['check'], ['forget', 'example.com'], ['migrate'], ['backup', 'copy']]) {
      const { code, stderr } = await run(args)
      assert.match(stderr, /^domaindex: there is no store at sqlite:.*store\.db: /)
      assert.equal(code, 1)
    }
    assert.throws(() => readFileSync(path('store.db')))
  })

  test('an unknown command is answered with the most similar one, and --version with the version', async (t) => {
    const { run } = folderOf(t)
    const { code, stderr } = await run(['imprt'])
    assert.deepEqual([code, stderr], [2, "domaindex: unknown command 'imprt'\n(Did you mean import?)\n"])
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    assert.equal((await run(['--version'])).stdout, `${version}\n`)
    assert.match((await run(['help', 'import'])).stdout, /--rejects <file>.*Exit codes/s)
  })

  test('docs/operating.md and --help name the same commands with the same words', async (t) => {
    const { stdout } = await folderOf(t).run(['--help'])
    const text = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8')
    const output = [...stdout.matchAll(/^ {2}([a-z]+)(?: \[command\])? {2,}(.*)$/gm)].map((row) => row.slice(1))
    const documented = [...text.matchAll(/^\| `domaindex ([a-z]+)` \| (.*) \|$/gm)].map((row) => row.slice(1))
    assert.deepEqual(documented, output)
    assert.ok(output.length > 5)
  })
})
