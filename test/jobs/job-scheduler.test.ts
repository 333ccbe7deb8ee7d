/** The job scheduler: what one process builds, records and reports, and what happens if that process dies. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { fileName } from '../../src/jobs/file-store/file-store.ts'
import { type JobLock, withJobLock } from '../../src/jobs/job-lock.ts'
import { STOPPED_MESSAGE } from '../../src/jobs/job-plan.ts'
import { runJobScheduler } from '../../src/jobs/job-scheduler.ts'
import { runStep } from '../../src/jobs/steps.ts'
import { LOCK_SECONDS, type LockHold, PROCESS_DIED_MESSAGE } from '../../src/store/port/jobs.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { addDays, type Day, type Instant, startOfDay } from '../../src/values/time.ts'
import { inForm } from '../long.ts'
import { noPostgres, postgresServer } from '../store/postgres/server.ts'
import { TESTER } from '../tester.ts'
import { DAY, some } from './built.ts'
import { contentOf } from './file-store/conformance.ts'
import { nightOf, openInstallation, runJobs, still } from './installation.ts'

const KILLED = fileURLToPath(new URL('scheduler-killed.ts', import.meta.url))
/** The run after DAY. */
const NIGHT = startOfDay(addDays(DAY, 1)) + 3700

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-night-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'lists'))
  return folder
}

function putList(
  folder: string,
  day: Day,
  names: readonly string[],
  changed: Instant = startOfDay(addDays(day, 1)),
): void {
  const path = join(folder, 'lists', `${day}.names`)
  writeFileSync(path, names.join('\n'))
  utimesSync(path, changed, changed)
}

async function open(t: TestContext, folder = folderOf(t)) {
  const clock = { now: NIGHT }
  const opened = await openInstallation(folder, () => clock.now)
  t.after(() => opened.store.close())
  return { ...opened, folder, clock }
}

test('a run builds the day before and both follow-ups, and records each job', async (t) => {
  const { works, store, folder, clock } = await open(t)
  for (const [place, before] of [0, 7, 30].entries()) putList(folder, addDays(DAY, -before), some(place + 1))
  const done = await runJobs(works)
  assert.deepEqual(done, [
    'inbox null',
    'daily 2026-10-20',
    'daily 2026-11-12',
    'daily 2026-11-19',
    'followup-7 2026-10-20',
    'followup-7 2026-11-12',
    'followup-30 2026-10-20',
    'snapshot 2026-11-20',
    'prune null',
  ])
  const runs = await store.jobs.runs(0)
  assert.deepEqual(
    runs.map(({ job, date }) => `${job} ${date}`),
    done,
  )
  assert.ok(runs.every(({ endedAt: ended, error }) => ended !== null && error === null))
  assert.deepEqual(
    runs.filter(({ job }) => job === 'daily').map(({ rows }) => rows),
    [3, 2, 1],
  )
  assert.deepEqual(
    (await works.fileStore.list('dropped')).map(({ name, rows }) => [name, rows]),
    ['2026-10-20', '2026-11-12', '2026-11-19'].map((day) => [`${day}-dropped.txt.gz`, 1]),
  )
  assert.deepEqual(await store.jobs.lockHolders(), [])
  assert.deepEqual(await runJobs(works), [], 'once')
  await works.fileStore.remove(fileName('dropped', DAY))
  clock.now += 3600
  assert.ok((await runJobs(works)).includes(`daily ${DAY}: ${DAY} is unchanged`))
  assert.notEqual(await works.fileStore.manifest(fileName('dropped', DAY)), null, 'one that was missing is built')
  clock.now += 86_400
  putList(folder, addDays(DAY, 1), some(4))
  assert.deepEqual(await runJobs(works), ['inbox null', 'daily 2026-11-20', 'snapshot 2026-11-21', 'prune null'])
})

test('a run on PostgreSQL builds the same files', { skip: noPostgres }, async (t) => {
  const { url, drop } = await (await postgresServer()).tables()
  t.after(drop)
  const folder = folderOf(t)
  for (const before of [0, 7]) putList(folder, addDays(DAY, -before), some(1_200))
  const { works, store } = await openInstallation(folder, () => NIGHT, url)
  await store.schedule.heartbeat('crawler', '{}')
  await store.observations.forget('name000000.example' as DomainName)
  const done = await runJobs(works)
  assert.deepEqual(done.slice(1, -2), ['daily 2026-11-12', 'daily 2026-11-19', 'request-7 2026-11-12'])
  await store.schedule.heartbeat('crawler', null)
  assert.deepEqual(await runJobs(works), ['followup-7 2026-11-12'])
  const [followup] = await works.fileStore.list('followup-7')
  assert.deepEqual([followup!.rows, followup!.older_than_24h], [1_199, 1_199])
  assert.deepEqual([await store.crawlRequests.count('followup'), await store.jobs.lockHolders()], [0, []])
  await store.close()
})

test('a changed day is rebuilt in the next run, and a day whose file was only touched is not', async (t) => {
  const { works, folder, clock } = await open(t)
  const other = addDays(DAY, -1)
  for (const day of [DAY, other]) putList(folder, day, some(3))
  await runJobs(works)
  putList(folder, DAY, some(4), NIGHT + 4000)
  putList(folder, other, some(3), NIGHT + 4000)
  clock.now += 86_400
  const done = await runJobs(works)
  assert.deepEqual(done.slice(1, 3), ['daily 2026-11-18: 2026-11-18 is unchanged', 'daily 2026-11-19'])
  const [before, day] = await works.fileStore.list('daily')
  assert.deepEqual([before!.revision, day!.revision, day!.rows], [1, 2, 4])
})

test('a held day is reported once, with what to do', async (t) => {
  const { works, folder } = await open(t)
  for (let before = 1; before <= 14; before++) putList(folder, addDays(DAY, -before), some(10))
  putList(folder, DAY, some(1))
  const done = await runJobs(works)
  const [words] = done.filter((each) => each.includes('held'))
  assert.match(
    words ?? '',
    /^daily 2026-11-19: 2026-11-19 is held: 1 rows.*domaindex build daily --date 2026-11-19 --release$/,
  )
  assert.deepEqual(await runJobs(works), [])
})

test('a day that an operator releases is published, and the request is done', async (t) => {
  const { works, store, folder } = await open(t)
  for (let before = 1; before <= 14; before++) putList(folder, addDays(DAY, -before), some(10))
  putList(folder, DAY, some(1))
  await runJobs(works)
  const { ledger } = store
  assert.equal(await ledger.as(TESTER).requestRelease(DAY, NIGHT), true)
  assert.equal(await ledger.as(TESTER).requestRelease(addDays(DAY, -1), NIGHT), true)
  assert.deepEqual(await runJobs(works), ['daily 2026-11-19'])
  assert.equal((await works.fileStore.list('daily')).at(-1)!.held, null)
  assert.deepEqual(await ledger.releaseRequests(), [addDays(DAY, -1)], 'a day that is not held waits')
})

test('with a live crawler, names are requested and the file waits for them', async (t) => {
  const { works, store, folder, clock } = await open(t)
  putList(folder, addDays(DAY, -7), some(3))
  await store.schedule.heartbeat('crawler', '{}')
  assert.deepEqual((await runJobs(works)).slice(2), ['request-7 2026-11-12', 'snapshot 2026-11-20', 'prune null'])
  assert.deepEqual(await store.crawlRequests.count('followup'), 3)
  await store.crawlRequests.complete('followup', some(3) as never)
  clock.now += 60
  await store.schedule.heartbeat('crawler', '{}')
  assert.deepEqual(await runJobs(works), ['followup-7 2026-11-12'])
})

test('a failed step is recorded and reported, and the others run', async (t) => {
  const { works, store, folder } = await open(t)
  putList(folder, DAY, some(2))
  const fileStore = { ...works.fileStore, freeBytes: async () => 5 }
  const done = await runJobs({ ...works, fileStore })
  assert.match(done[1]!, /^daily 2026-11-19 failed: the daily file of 2026-11-19 needs .* MiB free: free disk space/)
  assert.deepEqual(done.slice(-2), ['snapshot 2026-11-20', 'prune null'])
  const run = (await store.jobs.runs(0)).find(({ job }) => job === 'daily')!
  assert.match(run.error ?? '', /free disk space/)
  assert.equal(run.rows, null)
})

test('one process works and the others stand by until it ends', async (t) => {
  const { works, store, folder } = await open(t)
  putList(folder, DAY, some(2))
  const ended = new AbortController()
  const waits: number[] = []
  const clock = {
    ...still,
    async wait(milliseconds: number) {
      waits.push(milliseconds)
      ended.abort()
    },
  }
  const other = await store.jobs.acquireLock('scheduler', 'another process')
  await runJobScheduler(nightOf(works, { clock }), ended.signal)
  assert.deepEqual([waits, (await store.jobs.runs(0)).length], [[20_000], 0])
  await store.jobs.releaseLock(other!)
  assert.ok((await runJobs(works)).includes('daily 2026-11-19'))
})

test('a process that learns too late that it had the lock publishes nothing', async (t) => {
  const { works, store, folder, clock } = await open(t)
  putList(folder, DAY, some(2))
  let monotonicMs = 0
  let renewals = 0
  const jobs = {
    ...store.jobs,
    renewLock: async (hold: LockHold) => {
      const isHeld = await store.jobs.renewLock(hold)
      if (renewals++ > 0) return isHeld
      clock.now += LOCK_SECONDS // the reply is on its way for so long that another process takes over
      monotonicMs += LOCK_SECONDS * 1000
      assert.notEqual(await store.jobs.acquireLock('daily', 'faster'), null)
      return isHeld
    },
  }
  const work = withJobLock(
    'daily',
    { jobs, holder: 'slow', clock: { ...still, monotonicMs: () => monotonicMs } },
    new AbortController().signal,
    (hand) => runStep(works, { job: 'daily', date: DAY }, hand, { onRows: () => {} }),
  )
  await assert.rejects(work, /another process has taken it over/)
  assert.deepEqual([renewals, await works.fileStore.list('daily')], [2, []])
})

test('a process that was silent for too long and lost its lock publishes nothing', async (t) => {
  const { works, store, folder, clock } = await open(t)
  putList(folder, DAY, some(2))
  const take = async (hand: JobLock): Promise<void> => {
    clock.now += LOCK_SECONDS
    assert.notEqual(await store.jobs.acquireLock('daily', 'faster'), null)
    await runStep(works, { job: 'daily', date: DAY }, hand, { onRows: () => {} })
  }
  const work = withJobLock(
    'daily',
    { jobs: store.jobs, holder: 'slow', clock: still },
    new AbortController().signal,
    take,
  )
  await assert.rejects(work, /daily: another process has taken it over$/)
  assert.deepEqual(await works.fileStore.list('daily'), [])
  assert.deepEqual(
    (await store.jobs.lockHolders()).map(({ holder }) => holder),
    ['faster'],
  )
})

test('a stopped run cancels its builds, records that, and builds again at the next start', async (t) => {
  const { works, store, folder } = await open(t)
  putList(folder, DAY, some(2))
  const stop = new AbortController()
  const stopping = {
    ...works,
    registrations: {
      ...works.registrations,
      registered(day: Day) {
        stop.abort()
        return works.registrations.registered(day)
      },
    },
  }
  await runJobScheduler(nightOf(stopping), stop.signal)
  const [, run] = await store.jobs.runs(0)
  assert.deepEqual([run!.job, run!.error, await store.jobs.lockHolders()], ['daily', STOPPED_MESSAGE, []])
  assert.deepEqual(await works.fileStore.list('daily'), [])
  assert.deepEqual(await runJobs(works), ['daily 2026-11-19', 'snapshot 2026-11-20', 'prune null'])
})

/** The steps from one that is tried to the next. The first one is random. */
const STRIDE = inForm(4, 1)

/** Runs the jobs in a process that is killed before a step. Returns true if there is no such step. */
async function runKilled(folder: string, step: number): Promise<boolean> {
  const run = promisify(execFile)(process.execPath, [KILLED, folder, String(step), String(NIGHT)])
  return run.then(
    () => true,
    ({ signal, stderr }) => {
      assert.equal(signal, 'SIGKILL', stderr)
      return false
    },
  )
}

test('kill -9 at any step of a run: no partial file is visible, and the next run builds what is missing', async (t) => {
  const tryStep = async (step: number): Promise<boolean> => {
    const folder = folderOf(t)
    putList(folder, addDays(DAY, -7), some(300))
    const isWhole = await runKilled(folder, step)
    const { works, store } = await openInstallation(folder, () => NIGHT + 300)
    for (const kind of ['daily', 'followup-7'] as const)
      for (const { name, rows } of await works.fileStore.list(kind)) {
        assert.equal(rows, 300)
        await contentOf(works.fileStore, name)
      }
    await store.schedule.heartbeat('crawler', null)
    await runJobs(works)
    const [daily, followup] = [await works.fileStore.list('daily'), await works.fileStore.list('followup-7')]
    assert.deepEqual([daily.length, followup.length], [1, 1], `step ${step}`)
    const entries = ['daily', 'followup-7'].flatMap((kind) => readdirSync(join(folder, 'files', kind)))
    assert.equal(entries.length, 4, `step ${step}: ${entries}`)
    const runs = await store.jobs.runs(0)
    assert.ok(runs.every(({ endedAt: ended }) => ended !== null))
    assert.ok(runs.filter(({ error }) => error !== null).every(({ error }) => error === PROCESS_DIED_MESSAGE))
    assert.equal(await store.crawlRequests.count('followup'), 0)
    await store.close()
    return isWhole
  }
  let step = randomInt(1, STRIDE + 1)
  for (; !(await Promise.all([tryStep(step), tryStep(step + STRIDE)])).includes(true); step += 2 * STRIDE);
  assert.ok(step + STRIDE > 12, `${step} steps`)
})
