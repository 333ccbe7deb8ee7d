/** An installation of the nights' tests: a store, a shelf and lists of names in a folder, whose works take no inbox and build no snapshot. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { doStep, lookAround, type Works } from '../../src/nightly/deeds.ts'
import { type Night, runNights } from '../../src/nightly/night.ts'
import { planOf, type Step } from '../../src/nightly/plan.ts'
import { openShelfFolder } from '../../src/nightly/shelf-folder.ts'
import { type Clock, holderName } from '../../src/store/duty.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { Name } from '../../src/words/name.ts'
import { type Instant, parseDay } from '../../src/words/time.ts'
import { batchesOf } from './built.ts'

export const TIMES = [3600]
export const CUTOFF = 12 * 3600

/** Lists in a folder: `2026-11-19.names`, sorted, changed when the file was. */
function listsOf(folder: string): Works['sources'] {
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
          .filter(Boolean) as Name[],
      ),
  }
}

export async function openInstallation(
  folder: string,
  now: () => Instant,
  url = `sqlite:${join(folder, 'store.db')}`,
): Promise<{ works: Works; store: Store }> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now })
  const shelf = openShelfFolder(join(folder, 'files'))
  const works: Works = {
    store,
    shelf,
    sources: listsOf(join(folder, 'lists')),
    bounds: { least: 0.2, most: 5, floor: 5 },
    threads: 1,
    takeInbox: async () => ({ rows: 0 }),
    inboxAgain: () => null,
    buildSnapshots: async ({ stands }) => {
      await stands()
      return { rows: 0 }
    },
  }
  return { works, store }
}

/** Real time passes in no test. */
export const still: Clock = {
  wait: (_, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve())
    }),
}

type Given = Partial<Pick<Night, 'clock' | 'tell' | 'make' | 'holder'>>

export function nightOf(works: Works, given: Given = {}): Night {
  return {
    store: works.store,
    holder: holderName(),
    clock: still,
    look: async () => ({ ...(await lookAround(works)), times: TIMES, cutoff: CUTOFF }),
    make: (step, hand) => doStep(works, step, hand, { onRows: () => {} }),
    tell: { made() {}, failed() {} },
    ...given,
  }
}

/** Does what is to be done now, and returns what was done or failed. */
export async function runNight(works: Works, given: Given = {}): Promise<string[]> {
  const done: string[] = []
  const ended = new AbortController()
  const words = ({ job, date }: Step): string => `${job} ${date}`
  const night = nightOf(works, given)
  const look = async () => {
    const known = await night.look()
    if (planOf(known).step === null) ended.abort()
    return known
  }
  const tell: Night['tell'] = {
    made: (step, outcome) => void done.push([words(step), outcome.words ?? []].flat().join(': ')),
    failed: (step, error) => void done.push(`${step && words(step)} failed: ${(error as Error).message}`),
  }
  await runNights({ ...night, look, tell }, ended.signal)
  return done
}
