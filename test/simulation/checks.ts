/** What must hold between the steps: the facts, the files, the events and the budgets. */

import { type FileName, type FileStore, fileName } from '../../src/jobs/file-store/file-store.ts'
import { openRegistrations } from '../../src/registrations/registrations.ts'
import { EVENT_SECONDS } from '../../src/store/port/watch/events.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { addDays, type Day, dayOf, type Instant, SECONDS_PER_DAY } from '../../src/values/time.ts'
import { checkAll } from '../store/check-all.ts'
import { namesIn } from './calls.ts'
import type { Run } from './expectations.ts'
import { NAMES } from './steps.ts'
import { modelView, storeView } from './views.ts'
import { require } from './violation.ts'

/** Days for which the settings of the world keep files and registrations. */
const KEPT_DAYS = 90

/** Lets the model learn which of the names are known that an import may have added. */
export async function checkKnown({ world, expected }: Run): Promise<void> {
  const names = expected.uncertainNames()
  if (names.length === 0) return
  const states = await world.worker.store.observations.crawlStates(names)
  for (const { name, version, forgotten } of states) expected.settle(name, version > 0 && !forgotten)
}

/** Compares all that is known with the model. */
export async function checkWorld(run: Run): Promise<void> {
  const { world, expected } = run
  const { store, settings } = world.worker
  await checkKnown(run)
  for (const name of NAMES) {
    const [stored, modelled] = [await storeView(store.facts, name), modelView(expected.facts, name)]
    require(stored === modelled, () => `the store has ${stored}, not ${modelled}`)
  }
  const registrations = openRegistrations(settings.zones)
  const days = new Set([...(await registrations.days()).map(({ day }) => day), ...expected.days()])
  for (const day of days) {
    const found: string[] = []
    for await (const names of registrations.registered(day)) found.push(...names)
    checkNames(`${day} has as registered`, found, expected.namesOfDay(day, day < oldestKept(world)))
  }
}

/** Days before this one may have been pruned. */
export const oldestKept = ({ clock }: Run['world']): Day => dayOf(clock.now - KEPT_DAYS * SECONDS_PER_DAY)

/** What `check` finds in the store, which reads all of it. */
export async function checkStore({ world }: Run): Promise<void> {
  const { faults } = await checkAll(world.worker.store)
  require(faults.length === 0, () => `check finds ${JSON.stringify(faults[0])}`)
}

type DayNames = ReturnType<Run['expected']['namesOfDay']>

function checkNames(what: string, found: readonly string[], { required, allowed }: DayNames): void {
  const missing = [...required].find((name) => !found.includes(name))
  require(missing === undefined, () => `${what} ${found}, without ${missing}`)
  const unknown = found.find((name) => !allowed.has(name))
  require(unknown === undefined, () => `${what} ${unknown}, which no list has`)
}

/** The daily files after the jobs: each day before today has one with its names, without forgotten ones. */
export async function checkFiles({ world, expected }: Run): Promise<void> {
  const { fileStore } = world.worker.jobs
  const { forgotten } = expected
  for (const { date, name, rows } of await fileStore.list('daily')) {
    const found = await namesOf(fileStore, name)
    require(found.length === rows, () => `${name} has ${found.length} rows, and its manifest says ${rows}`)
    const names = expected.namesOfDay(date, date < oldestKept(world))
    if (date >= addDays(dayOf(world.clock.now), -1)) continue // its lists may have changed after the last round
    if (expected.areJobsDisturbed(world.clock.now)) continue
    const without = (all: Set<string>) => new Set([...all].filter((each) => !forgotten.has(each as never)))
    const back = found.find((each) => forgotten.has(each as never))
    require(back === undefined, () => `${name} has ${back}, which was forgotten`)
    checkNames(`${fileName('daily', date)} has`, found, {
      ...names,
      allowed: without(names.allowed),
      required: without(names.required),
    })
  }
}

async function namesOf(fileStore: FileStore, name: FileName): Promise<string[]> {
  const opened = await fileStore.open(name)
  require(opened !== null, () => `${name} is listed, and it does not exist`)
  const chunks: Buffer[] = []
  for await (const chunk of opened!.read(0, opened!.manifest.bytes)) chunks.push(Buffer.from(chunk))
  await opened!.close()
  return namesIn(Buffer.concat(chunks))
}

/** The newest snapshot has only known names. If it was built after an instant, it has all of them. */
export async function checkSnapshot(run: Run, since: Instant): Promise<void> {
  const { world, expected } = run
  const newest = (await world.worker.jobs.fileStore.list('snapshot')).at(-1)
  if (newest === undefined) return
  await checkKnown(run)
  const found = await namesOf(world.worker.jobs.fileStore, newest.name)
  const known = expected.facts.names()
  const unknown = found.find((name) => !known.includes(name as DomainName))
  require(unknown === undefined, () => `${newest.name} has ${unknown}, which is not known`)
  const missing = newest.generated <= since ? undefined : known.find((name) => !found.includes(name))
  require(missing === undefined, () => `${newest.name} lacks ${missing}`)
}

/** Each change of a watched name is one event. */
export async function checkEvents({ world, expected }: Run, account: number): Promise<void> {
  const { store } = await world.serve()
  const { id } = world.accounts[account]!
  const found = new Map<string, number>()
  for (let after = 0; ; ) {
    const page = await store.events.events(id, after, 7)
    for (const { number, watch, name, observed_at } of page) {
      require(number > after, () => `event ${number} comes after ${after}`)
      after = number
      const key = `${watch} ${name} ${observed_at}`
      found.set(key, (found.get(key) ?? 0) + 1)
    }
    if (page.length < 7) break
  }
  const kept = world.clock.now - EVENT_SECONDS
  for (const { watch, name, times } of expected.watchesOf(account)) {
    const prefix = `${watch} ${name} `
    for (const [time, { least, most }] of times) {
      const stored = found.get(prefix + time) ?? 0
      require(stored <= most && (stored >= least || time < kept), () =>
        `the event of ${name} at ${time} exists ${stored} times, not ${least} to ${most} times`)
    }
    for (const [key, count] of found)
      require(!key.startsWith(prefix) || times.has(Number(key.slice(prefix.length))) || count === 1, () =>
        `event ${key} exists ${count} times`)
  }
}
