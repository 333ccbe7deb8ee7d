/** What each kind of step does, and what it must find. An action throws a Violation if the service is wrong. */

import { type JobScheduler, runDueJobs } from '../../src/jobs/job-scheduler.ts'
import { readPlanInputs, runStep } from '../../src/jobs/steps.ts'
import { removeFromFinishedFiles } from '../../src/server/forgotten-files.ts'
import { forgetName } from '../../src/store/forget.ts'
import { ingest } from '../../src/store/ingest.ts'
import { addDays, dayOf } from '../../src/values/time.ts'
import { zoneOf } from '../registrations/world.ts'
import { TESTER } from '../tester.ts'
import { callEndpoint, checkUnits, replaceToken } from './calls.ts'
import { checkEvents, checkFiles, checkKnown, checkSnapshot, checkWorld, oldestKept } from './checks.ts'
import { observationsOf, type Run } from './expectations.ts'
import { ACCOUNTS, type ActionKind, type Step } from './steps.ts'
import { storeView } from './views.ts'
import { require } from './violation.ts'

type StepOf<Kind extends ActionKind> = Extract<Step, { kind: Kind }>
/**
 * `perform`: returns what the model learns if the action is acknowledged. `recover`: asserts what may be the case, and
 * lets the model learn it, if the process died or if the action failed.
 */
type Action<Kind extends ActionKind> = {
  process: 'worker' | 'server' | 'none'
  perform(run: Run, step: StepOf<Kind>): Promise<void>
  recover?(run: Run, step: StepOf<Kind>): Promise<void>
}

const MAX_WATCHES = 5
const LIVE = new AbortController().signal
const JOB_TIMES = [3_600]
const FOLLOWUP_WAIT = 43_200

const observe: Action<'observe'> = {
  process: 'worker',
  async perform({ world, expected }, { sightings }) {
    const observations = observationsOf(sightings, world.clock.now)
    await ingest(world.worker.store, observations)
    expected.observe(observations)
  },
  /** All observations are in the store, or none: they were one transaction. */
  async recover({ world, expected }, { sightings }) {
    const observations = observationsOf(sightings, world.clock.now)
    const names = [...new Set(sightings.map(({ name }) => name))]
    const before = expected.stateOf(names)
    const after = expected.stateAfter(names, observations)
    const views = names.map((name) => storeView(world.worker.store.facts, name))
    const stored = (await Promise.all(views)).join('\n')
    if (stored === before) return
    require(stored === after, () => `a part of a transaction is in the store: ${stored}, not ${before} or ${after}`)
    expected.observe(observations)
  },
}

const list: Action<'list'> = {
  process: 'none',
  async perform({ world, expected }, { list, daysAgo, names }) {
    const day = addDays(dayOf(world.clock.now), -daysAgo)
    // a list without a name adds to the others: its file has a name of its own
    const file = list === null ? `${day}.names` : `${list}-${day}.names`
    if (list === null && expected.hasFile(day, file)) return
    world.put(`/inbox/${file}`, `${names.join('\n')}\n`)
    expected.put(day, file, names)
  },
}

const zone: Action<'zone'> = {
  process: 'none',
  async perform({ world, expected }, { names }) {
    const day = dayOf(world.clock.now)
    const file = `test-${day}.zone`
    if (expected.hasFile(day, file)) return
    const labels = names.map((name) => name.slice(0, -'.test'.length))
    world.put(`/inbox/${file}`, zoneOf(labels))
    expected.putZone(day, file, names)
  },
}

const token: Action<'token'> = {
  process: 'worker',
  perform: (run, { account }) => replaceToken(run, account),
  recover: (run, step) => token.perform(run, step),
}

const jobs: Action<'jobs'> = {
  process: 'worker',
  async perform(run) {
    const { world, expected } = run
    const { worker } = world
    const faults: unknown[] = []
    const startedAt = world.clock.now
    const done: string[] = []
    const scheduler: JobScheduler = {
      store: worker.store,
      holder: worker.holder,
      clock: worker.clock,
      readInputs: async () => ({
        ...(await readPlanInputs(worker.jobs)),
        times: JOB_TIMES,
        followupWait: FOLLOWUP_WAIT,
      }),
      run: (step, lock) => runStep(worker.jobs, step, lock, { onRows() {} }),
      events: { done: ({ job }) => void done.push(job), failed: (_, error) => void faults.push(error) },
    }
    await runDueJobs(scheduler, LIVE)
    world.clock.pass(1000) // what was imported in this second is built in the next one
    await runDueJobs(scheduler, LIVE)
    if (faults.length > 0) throw faults[0]
    await checkFiles(run)
    await checkSnapshot(run, startedAt)
    const isPruned = done.lastIndexOf('prune') > done.lastIndexOf('inbox')
    if (isPruned) expected.forgetDaysBefore(oldestKept(world))
  },
}

const forget: Action<'forget'> = {
  process: 'worker',
  async perform({ world, expected }, { name }) {
    const { store, settings } = world.worker
    await forgetName(store, name)
    const removal = { isForgotten: (each: string) => each === name, onFile() {}, onWait() {} }
    await removeFromFinishedFiles(settings, store, removal, LIVE)
    expected.forget(name)
  },
  /** As the help of the command says: run it again. */
  recover: (run, step) => forget.perform(run, step),
}

const watch: Action<'watch'> = {
  process: 'server',
  async perform({ world, expected }, { account, name }) {
    const { id } = world.accounts[account]!
    const rule = { kind: 'name' as const, value: name, threshold: null, types: null }
    const { store } = await world.serve()
    const created = await store.ledger.createWatch(MAX_WATCHES, id, rule, world.clock.now)
    if (typeof created === 'object') expected.watch(account, created.id, name)
  },
  async recover({ world, expected }, { account, name }) {
    const watches = await (await world.serve()).store.ledger.watches(world.accounts[account]!.id)
    const found = watches.find(({ value }) => value === name)
    const isExpected = expected.watchesOf(account).some(({ watch }) => watch === found?.id)
    if (found !== undefined && !isExpected) expected.watch(account, found.id, name)
  },
}

const unwatch: Action<'unwatch'> = {
  process: 'server',
  async perform({ world, expected }, { account, name }) {
    const found = expected.watchesOf(account).find((each) => each.isActive && each.name === name)
    if (found === undefined) return
    await (await world.serve()).store.ledger.removeWatch(world.accounts[account]!.id, found.watch)
    expected.endWatch(found.watch)
  },
  recover: (run, step) => unwatch.perform(run, step),
}

const ACTIONS: { readonly [Kind in ActionKind]: Action<Kind> } = {
  observe,
  list,
  zone,
  token,
  jobs,
  forget,
  watch,
  unwatch,
  call: { process: 'server', perform: callEndpoint },
  events: { process: 'server', perform: (run, { account }) => checkEvents(run, account) },
  pass: {
    process: 'none',
    async perform({ world }, { seconds }) {
      world.clock.pass(seconds * 1000)
    },
  },
  plan: {
    process: 'worker',
    async perform({ world, expected }, { plan }) {
      // only the account without a period: a period would decide
      await world.worker.store.ledger.as(TESTER).setPlan(world.accounts[0]!.id, ACCOUNTS[plan]!)
      world.clock.pass(1000) // every process has read the change by then
      expected.plan = ACCOUNTS[plan]!
    },
    recover: (run, step) => ACTIONS.plan.perform(run, step),
  },
  settle: { process: 'server', perform: (run) => checkUnits(run) },
  restart: {
    process: 'none',
    async perform({ world }) {
      world.worker.process.die()
    },
  },
  power: {
    process: 'none',
    async perform({ world }, { salt }) {
      world.losePower(salt)
    },
  },
  audit: { process: 'none', perform: (run) => checkWorld(run) },
}

/** Performs a step with its disturbance, starts what has died, and checks what the step could have harmed. */
export async function performStep(run: Run, step: Step): Promise<void> {
  const { world } = run
  const action = ACTIONS[step.kind] as Action<ActionKind>
  if (step.kind === 'observe' || step.kind === 'call') await checkKnown(run)
  const owner =
    action.process === 'none' ? null : (await (action.process === 'server' ? world.serve() : world.worker)).process
  owner?.plan(step.disturbance)
  const failures = owner?.failures ?? 0
  const work = action.perform(run, step as never).then(
    () => 'done' as const,
    (error: unknown) => {
      if (owner === null || owner.failures === failures) throw error
      return 'failed' as const // as planned
    },
  )
  const outcome = owner === null ? await work : await Promise.race([work, owner.death])
  owner?.plan(null)
  world.totals.failures += (owner?.failures ?? 0) - failures
  const isWhole = outcome === 'done' && owner?.failures === failures
  if (step.kind === 'jobs' && !isWhole) run.expected.jobsDisturbedAt = world.clock.now
  if (outcome === 'died' && step.losesPower) world.losePower(step.salt)
  if (world.server?.process.isDead) run.expected.serverDiedOn = dayOf(world.clock.now)
  await world.replaceDead()
  if (outcome !== 'done') await action.recover?.(run, step as never)
}
