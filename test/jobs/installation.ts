/**
 * An installation for the tests of the job scheduler: a store, a file store and lists in a folder, without inbox and
 * snapshots.
 */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openFolderFileStore } from '../../src/jobs/file-store/folder.ts'
import { type JobStep, planJobs } from '../../src/jobs/job-plan.ts'
import { type JobScheduler, runJobScheduler } from '../../src/jobs/job-scheduler.ts'
import { type JobDependencies, readPlanInputs, runStep } from '../../src/jobs/steps.ts'
import { type LockClock, processHolderName } from '../../src/store/named-lock.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { type Instant, parseDay } from '../../src/values/time.ts'
import { batchesOf } from './built.ts'

export const TIMES = [3600]
export const CUTOFF = 12 * 3600

/** Lists in a folder: `2026-11-19.names`, sorted. A list changes when its file does. */
function listsOf(folder: string): JobDependencies['registrations'] {
  const path = (entry: string): string => join(folder, entry)
  return {
    days: async () =>
      readdirSync(folder).map((entry) => ({
        day: parseDay(entry.slice(0, 10))!,
        changed: Math.floor(statSync(path(entry)).mtimeMs / 1000),
      })),
    registered: (day) =>
      batchesOf(
        readFileSync(path(`${day}.names`), 'utf8')
          .split('\n')
          .filter(Boolean) as DomainName[],
      ),
    dropped: (day) => batchesOf([`dropped-${day}.example` as DomainName]),
  }
}

export async function openInstallation(
  folder: string,
  now: () => Instant,
  url = `sqlite:${join(folder, 'store.db')}`,
): Promise<{ works: JobDependencies; store: Store }> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now })
  const fileStore = openFolderFileStore(join(folder, 'files'))
  const works: JobDependencies = {
    store,
    fileStore,
    registrations: listsOf(join(folder, 'lists')),
    qualityBounds: { min: 0.2, max: 5, minDifference: 5 },
    threads: 1,
    processInbox: async () => ({ rows: 0 }),
    inboxRecheckAt: () => null,
    buildSnapshots: async ({ requireLock: stands }) => {
      await stands()
      return { rows: 0 }
    },
    prune: async () => ({ rows: 0 }),
  }
  return { works, store }
}

/** A clock without real waits. */
export const still: LockClock = {
  monotonicMs: () => 0,
  wait: (_, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve())
    }),
}

type Given = Partial<Pick<JobScheduler, 'clock' | 'events' | 'run' | 'holder'>>

export function nightOf(works: JobDependencies, given: Given = {}): JobScheduler {
  return {
    store: works.store,
    holder: processHolderName(),
    clock: still,
    readInputs: async () => ({ ...(await readPlanInputs(works)), times: TIMES, followupWait: CUTOFF }),
    run: (step, hand) => runStep(works, step, hand, { onRows: () => {} }),
    events: { done() {}, failed() {} },
    ...given,
  }
}

/** Runs the jobs that are due and returns what was done or failed. */
export async function runJobs(works: JobDependencies, given: Given = {}): Promise<string[]> {
  const done: string[] = []
  const ended = new AbortController()
  const words = ({ job, date }: JobStep): string => `${job} ${date}`
  const night = nightOf(works, given)
  const look = async () => {
    const known = await night.readInputs()
    if (planJobs(known).step === null) ended.abort()
    return known
  }
  const report: JobScheduler['events'] = {
    done: (step, outcome) => void done.push([words(step), outcome.message ?? []].flat().join(': ')),
    failed: (step, error) => void done.push(`${step && words(step)} failed: ${(error as Error).message}`),
  }
  await runJobScheduler({ ...night, readInputs: look, events: report }, ended.signal)
  return done
}
