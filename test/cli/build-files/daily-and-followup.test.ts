/**
 * Tests `domaindex build daily`, `build followup` and `jobs`: building the files of a day manually, and the state of
 * the jobs.
 */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before as beforeAll, mock, suite, type TestContext, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { fileName } from '../../../src/jobs/file-store/file-store.ts'
import { openFolderFileStore } from '../../../src/jobs/file-store/folder.ts'
import type { JobRun } from '../../../src/store/port/jobs.ts'
import { addDays, type Day } from '../../../src/values/time.ts'
import { description, pieces } from '../../jobs/file-store/conformance.ts'
import { folderOf } from '../run.ts'

/** The commands run in the process of the test, and their clock stands at noon: no test sees a midnight. */
const TODAY = '2026-11-20' as Day
const before = (days: number): Day => addDays(TODAY, -days)

function installation(t: TestContext) {
  const folder = folderOf(t)
  return {
    ...folder,
    /** Imports a list of the names of a day. */
    async list(day: Day, names: readonly string[]) {
      const path = folder.path('list')
      writeFileSync(path, `${names.join('\n')}\n`)
      const { code, stderr } = await folder.run(['import', '--format', 'names', path, '--date', day])
      assert.equal(code, 0, stderr)
    },
    /** Returns the unpacked content of the only file of a kind. */
    content(kind: string): string {
      const root = folder.path(join('data/files', kind))
      const data = readdirSync(root).filter((entry) => !entry.endsWith('.json'))
      assert.equal(data.length, 1)
      return gunzipSync(readFileSync(join(root, data[0]!))).toString()
    },
  }
}

suite('domaindex build and jobs', { concurrency: 2 }, () => {
  beforeAll(() => mock.timers.enable({ apis: ['Date'], now: Date.parse(`${TODAY}T12:00:00Z`) }))
  after(() => mock.timers.reset())

  test("yesterday's list becomes its daily file, and a list of a week ago becomes its follow-up file", async (t) => {
    const { run, list, content } = installation(t)
    await list(before(1), ['b.example', 'a.example'])
    const { code, stdout } = await run(['build', 'daily'])
    assert.match(stdout, new RegExp(`^${before(1)}\\.txt\\.gz: 2 names, \\d+ bytes, revision 1\n$`))
    assert.equal(code, 0)
    assert.equal(content('daily'), 'a.example\nb.example\n')
    const again = await run(['build', 'daily'])
    assert.match(again.stdout, /revision 1\n.* is unchanged\n$/)
    await list(before(8), ['w.example'])
    assert.equal((await run(['build', 'daily', '--date', before(8)])).code, 0)
    const followup = await run(['build', 'followup'])
    assert.match(followup.stdout, new RegExp(`^${before(8)}-followup-7\\.csv\\.gz: 1 names, `))
    assert.match(content('followup-7'), /^domain,has_website,.*\nw\.example,no,no,,no,,nocert,,,\n$/)
    const { locks, held, next, runs } = JSON.parse((await run(['jobs', '--json'])).stdout)
    assert.deepEqual([locks, held, typeof next.at], [[], [], 'number'])
    assert.deepEqual(
      runs.map(({ job, date, rows, error }: JobRun) => [job, date, rows, error]),
      [
        ['followup-7', before(8), 1, null],
        ['daily', before(8), 1, null],
        ['daily', before(1), 2, null],
        ['daily', before(1), 2, null],
      ],
    )
  })

  test('if the number of names of a day is out of bounds, its file is held with exit code 3, jobs shows it, and --release releases it', async (t) => {
    const { run, list, path } = installation(t)
    await list(
      before(1),
      Array.from({ length: 502 }, (_, n) => `n${n}.example`),
    )
    const fileStore = openFolderFileStore(path('data/files'))
    for (let days = 2; days < 16; days++) {
      const name = fileName('daily', before(days))
      await fileStore.publish(name, pieces(gzipSync('a.example\n')), () => description())
    }
    const held = await run(['build', 'daily'])
    assert.equal(held.code, 3)
    assert.match(
      held.stdout,
      /is held: 502 rows, and the median of the same weekday .* is 1: above 5 times that, and more than 500 rows/,
    )
    const { stdout } = await run(['jobs'])
    assert.match(
      stdout,
      new RegExp(
        `^job scheduler runs in: no process.*\nthe /similar index is maintained by: no process.*\nthe inverse index is maintained by: no process.*\nnext: .*\nheld: ${before(1)}, 502 rows, `,
      ),
    )
    assert.match(stdout, /^daily +\d{4}-\d\d-\d\d {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}\d+ s +502$/m)
    const released = await run(['build', 'daily', '--date', before(1), '--release'])
    assert.deepEqual([released.code, /revision 2\n$/.test(released.stdout)], [0, true])
    assert.doesNotMatch((await run(['jobs'])).stdout, /^held: /m)
  })

  for (const [args, words] of [
    [['daily', '--date', TODAY], /has not ended yet/],
    [
      ['daily', '--date', '2001-01-01'],
      /there are no registrations of 2001-01-01: import a zone or a list of that day first/,
    ],
    [['followup', '--date', before(3)], /no follow-up of .* is due yet/],
    [['followup', '--date', before(40), '--after', '30'], /there is no daily file of .*: build it first/],
  ] as const) {
    test(`build ${args.join(' ')} is rejected with one line`, async (t) => {
      const { run, withStore } = installation(t)
      await withStore(async () => {})
      const { code, stderr } = await run(['build', ...args])
      assert.equal(code, 1)
      assert.match(stderr, words)
      assert.equal(stderr.split('\n').length, 2)
    })
  }

  test('if a manifest is damaged, one line says what to do, and doing it helps', async (t) => {
    const { run, list, path } = installation(t)
    await list(before(1), ['a.example'])
    const manifest = path(`data/files/daily/${fileName('daily', before(1))}.json`)
    assert.equal((await run(['build', 'daily'])).code, 0)
    writeFileSync(manifest, '{')
    for (const args of [['build', 'daily'], ['jobs']]) {
      const { code, stderr } = await run(args)
      assert.equal(code, 1)
      assert.match(stderr, /^domaindex: .*\.json: it is not a manifest\. Remove that manifest and rebuild its file\n$/)
    }
    rmSync(manifest)
    assert.equal((await run(['build', 'daily'])).code, 0)
  })

  test('a file that another process is building is left to that process', async (t) => {
    const { run, list, withStore } = installation(t)
    await list(before(1), ['a.example'])
    await withStore(async ({ jobs }) => void (await jobs.acquireLock('daily', 'elsewhere 1 abc')))
    const { code, stderr } = await run(['build', 'daily'])
    assert.equal(code, 1)
    assert.match(stderr, /^domaindex: elsewhere 1 abc is building this now: wait until it has finished/)
  })
})
