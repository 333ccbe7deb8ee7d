/**
 * Tests the jobs of a real `domaindex serve`: its files can be downloaded, its process is restarted, and it shuts down
 * in order.
 */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { addDays, dayOf } from '../../src/values/time.ts'
import { makeAccount, serverOf } from '../api/server.ts'
import { TESTER } from '../tester.ts'
import { until } from '../until.ts'

const LIST = `b.example\na.example\n`

test('serve imports the inbox, builds the daily file and the snapshots, restarts its job scheduler when it dies, and shuts down in order', async (t) => {
  const yesterday = addDays(dayOf(Math.floor(Date.now() / 1000)), -1) // the file was loaded long before
  const { serve, run, path, withStore } = serverOf(t)
  writeFileSync(path('list'), LIST)
  assert.equal((await run(['import', '--format', 'names', path('list'), '--date', yesterday])).code, 0)
  const { token, account } = await withStore((store) => makeAccount(store, 'basic'))
  await withStore(({ ledger }) =>
    ledger.as(TESTER).addPeriod(account.id, { plan: 'basic', first: yesterday, last: null }),
  )
  const {
    address,
    process: server,
    log,
    outcome,
  } = await serve({ DOMAINDEX_JOB_TIMES: '00:00', DOMAINDEX_WORKERS: '1', DOMAINDEX_DAILY_BOUNDS: 'off' })
  const done = () => log().flatMap(({ job, date, rows }) => (job === undefined ? [] : `${job} ${date} ${rows}`))
  await until(() => done().length >= 4)
  // If the server starts within the second of the import, the daily file waits for the next second.
  const [inbox, ...files] = done()
  assert.deepEqual(
    [inbox, ...files.sort()],
    ['inbox null 0', `daily ${yesterday} 2`, 'prune null 0', `snapshot ${addDays(yesterday, 1)} 2`],
  )
  const response = await fetch(`${address}/v1.0/daily?token=${token}&date=${yesterday}`)
  const bytes = Buffer.from(await response.arrayBuffer())
  assert.deepEqual([response.status, gunzipSync(bytes).toString()], [200, 'a.example\nb.example\n'])

  const port = log().find(({ msg }) => msg === 'admin listener started')!.port
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  assert.match(metrics, /^domaindex_job_last_success_timestamp_seconds\{job="snapshot"\} \d+$/m)
  assert.match(metrics, /^domaindex_daily_files_held 0$/m)
  assert.match(metrics, /^domaindex_daily_file_age_seconds \d+$/m)

  const nights = () => log().filter(({ msg }) => msg === 'job scheduler started')
  const pid = Number(nights()[0]!.pid)
  if (existsSync('/proc/self/task')) {
    const nice = execFileSync('ps', ['-o', 'ni=', '-p', String(pid)])
      .toString()
      .trim()
    assert.equal(nice, '10', 'behind everything that answers requests')
  }
  process.kill(pid, 'SIGKILL')
  await until(() => nights().length === 2)
  const { stdout } = await run(['jobs', '--json'])
  await until(() => log().some(({ msg }) => msg === 'child process died, restarting it'))
  assert.equal(JSON.parse(stdout).runs.length, 4)
  server.kill('SIGTERM')
  assert.equal((await outcome).code, 0)
  assert.equal(log().filter(({ msg }) => msg === 'job scheduler stopped').length, 1)
  await withStore(async ({ jobs }) => assert.deepEqual(await jobs.lockHolders(), []))
})
