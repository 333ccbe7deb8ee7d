/** `crawl --loop` and `serve --crawl` as real processes, with a name server of the test. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { makeAccount } from '../api/server.ts'
import { folderOf } from '../cli/run.ts'
import { named } from '../probe/internet.ts'
import { until } from '../until.ts'
import { ASKED, ENVIRONMENT, NAMES, processWorld } from './processes.ts'

/** The state after LEASE_SECONDS without a renewal. */
function lapse(path: string): void {
  const database = new DatabaseSync(path, { timeout: 5_000 })
  database.exec('update slot_lease set expires_at = expires_at - 60 where holder is not null')
  database.close()
}

suite('a continuous crawl', { concurrency: 2 }, () => {
  test('ends in order at SIGTERM, and another one resumes after SIGKILL', async (t) => {
    const { asked, start, run, path, withStore } = await processWorld(t)
    const first = start('crawl', '--loop')
    await until(() => asked.length >= 20)
    first.child.kill('SIGKILL')
    await first.outcome
    lapse(path('store.db'))
    const second = start('crawl', '--loop')
    await until(() => new Set(asked).size >= 40)
    const port = second.output().find(({ admin }) => admin !== undefined)!.admin
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
    assert.deepEqual([ready.status, await ready.text()], [200, 'ready\n'])
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    assert.match(metrics, /^domaindex_crawl_probes_total\{kind="new",outcome="noWebsite"\} \d+$/m)
    assert.match(metrics, /^domaindex_crawl_paused\{reason="self_check"\} 0$/m)
    assert.doesNotMatch(metrics, /\.example|127\.0\.0/)
    second.child.kill('SIGTERM')
    assert.equal((await second.outcome).signal, 'SIGTERM')
    const third = start('crawl', '--loop')
    await until(() => new Set(asked).size === NAMES.length)
    third.child.kill('SIGTERM')
    await third.outcome
    await withStore(async ({ schedule, facts }) => {
      assert.equal((await schedule.crawlers()).length, 1, 'the one that was killed counts for a minute')
      assert.deepEqual(
        (await schedule.ranges()).filter(({ holder }) => holder !== null),
        [],
      )
      for (const name of NAMES) assert.equal((await facts.lookup(named(name)))?.ip, 'noip', name)
    })
    const { stdout } = await run(['crawl', '--status', '--json'])
    const status = JSON.parse(stdout)
    assert.deepEqual([status.count.names, status.crawlers.length, status.requests], [60, 1, { lookup: 0, followup: 0 }])
    assert.equal(status.lastDay[0].kind, 'new')
    assert.match((await run(['crawl', '--status'])).stdout, /^names +60, never probed \d+/)
  })

  test('serve --crawl answers for a requested name, restarts its crawler after a crash, and ends both in order', async (t) => {
    const { asked, start, withStore } = await processWorld(t)
    const token = await withStore(async (store) => (await makeAccount(store, 'basic')).token)
    const { child, outcome, output } = start('serve', '--crawl')
    const [, address] = await new Promise<RegExpExecArray>((resolve) =>
      child.stdout.on('data', (text) => {
        const listens = /listens on (\S+)\n/.exec(String(text))
        if (listens !== null) resolve(listens)
      }),
    )
    const look = () => fetch(`${address}/v1.0/lookup?token=${token}&query=${ASKED}`)
    assert.equal((await look()).status, 404)
    await until(() => asked.includes(ASKED))
    await until(async () => (await look()).status === 200)
    const crawlers = () => output().filter(({ msg }) => msg === 'crawl started')
    process.kill(crawlers()[0]!.pid, 'SIGKILL')
    await until(() => crawlers().length === 2)
    child.kill('SIGTERM')
    assert.equal((await outcome).code, 0)
    assert.equal(output().filter(({ msg }) => msg === 'crawl stopped').length, 1)
  })

  test('serve --crawl refuses to start if the admin listener of its crawler cannot listen', async (t) => {
    const { run } = await processWorld(t)
    const server = createServer().listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const taken = `127.0.0.1:${(server.address() as AddressInfo).port}`
    for (const [env, expected] of [
      [{}, `${taken} is in use: set another port with DOMAINDEX_CRAWL_ADMIN`],
      [
        { DOMAINDEX_ADMIN: taken },
        `DOMAINDEX_CRAWL_ADMIN and DOMAINDEX_ADMIN are both ${taken}: change the port of one of them`,
      ],
      [
        { DOMAINDEX_PORT: taken.split(':')[1]! },
        `DOMAINDEX_CRAWL_ADMIN and DOMAINDEX_PORT are both ${taken}: change the port of one of them`,
      ],
    ] as const) {
      const given = { ...ENVIRONMENT, DOMAINDEX_CRAWL_ADMIN: taken, DOMAINDEX_LOG_LEVEL: 'silent', ...env }
      const { code, stdout, stderr } = await run(['serve', '--crawl'], { env: given })
      assert.deepEqual([code, stdout, stderr], [1, '', `domaindex: ${expected}\n`])
    }
  })

  test('a crawler whose server was killed ends by itself', async (t) => {
    const { asked, start, withStore } = await processWorld(t)
    const { child, outcome, output } = start('serve', '--crawl')
    await until(() => asked.length > 10)
    child.kill('SIGKILL')
    await outcome // its other processes hold the same pipe, which closes when all have ended, in any order
    assert.ok(output().some(({ msg }) => msg === 'crawl stopped'))
    await withStore(async ({ schedule }) => assert.deepEqual(await schedule.crawlers(), []))
  })

  test('invalid settings of a crawl are rejected in one line', async (t) => {
    const { run } = folderOf(t)
    for (const [args, env, expected] of [
      [
        ['crawl', '--loop', 'a.example'],
        {},
        /^domaindex: --loop and --status take no names, and neither --file nor --out\n$/,
      ],
      [['crawl', '--loop', '--status'], {}, /^domaindex: give either --loop or --status, not both\n$/],
      [
        ['crawl', '--status', '--parallel', '8'],
        {},
        /^domaindex: --status probes nothing, so it takes no --parallel: omit/,
      ],
      [['crawl', '--status', '--allow', '127.0.0.0/8'], {}, /takes no --allow/],
      [['crawl', '--status', '--resolver', '127.0.0.1'], {}, /takes no --resolver/],
      [['crawl', '--loop', '--json'], {}, /^domaindex: --loop prints no result/],
      [['crawl', '--loop'], { DOMAINDEX_CRAWL_CONTACT: '' }, /^domaindex: set DOMAINDEX_CRAWL_CONTACT to /],
      [['serve', '--crawl'], { DOMAINDEX_CRAWL_CONTACT: '' }, /^domaindex: set DOMAINDEX_CRAWL_CONTACT to /],
      [
        ['crawl', '--loop'],
        { DOMAINDEX_CRAWL_MAX_INTERVAL: '1h' },
        /^domaindex: DOMAINDEX_CRAWL_MIN_INTERVAL is longer than/,
      ],
      [['crawl', '--status'], {}, /^domaindex: there is no store at /],
    ] as [string[], Record<string, string>, RegExp][]) {
      const { code, stderr } = await run(args, { env: { ...ENVIRONMENT, ...env } })
      assert.equal(code, /--loop (and|or|prints)|--status probes/.test(stderr) ? 2 : 1)
      assert.match(stderr, expected)
    }
  })
})
