/**
 * `npm run bench:crash`: kills imports and servers with `kill -9` at random moments and checks the store afterwards.
 */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { LEASE_TIMEOUT_SECONDS } from '../src/accounts/quota-lease-rules.ts'
import { openStore } from '../src/store/open.ts'
import type { DomainName } from '../src/values/domain-name.ts'
import { dayOf } from '../src/values/time.ts'
import { startDomaindex } from './load/server.ts'
import { readOptions } from './measure/options.ts'
import {
  domaindexCommand,
  makeTemporaryFolder,
  type RunningProcess,
  runProcess,
  startProcess,
  stopProcess,
} from './measure/process.ts'
import { metric, report } from './measure/report.ts'
import { digestAnswers } from './world/digest.ts'
import { writeObservations } from './world/observation-files.ts'
import { copyStore, createTokens, removeStore, type StoreFiles, storeFilesIn } from './world/store.ts'
import {
  domainNameAt,
  firstProbeRound,
  HOT_TARGET,
  nextProbeRound,
  observationAt,
  type ProbeRound,
  type World,
} from './world/world.ts'

/** Violations that the crashes caused. Each count must be 0. */
type Violations = { lost: number; faults: number; differing: number; uncounted: number }
/** The totals that the violations are compared with. */
type Totals = { acknowledged: number; answered: number }

const CRASHES = 50
const CLIENTS = 8
/** After this time without a heartbeat, a process loses its leases and their units count as spent. */
const SILENCE_SECONDS = LEASE_TIMEOUT_SECONDS + 1
const MAX_SERVER_MILLISECONDS = 3000
/** Two thirds of the names have other addresses in the second round. */
const secondRound: ProbeRound = { ...nextProbeRound(firstProbeRound()), changedShare: 0.66 }

const options = readOptions(20_000, 0, CRASHES)
const folder = options.folder ?? makeTemporaryFolder()
mkdirSync(folder, { recursive: true })
const world: World = { seed: 1, names: options.names, text: true }
const names: DomainName[] = Array.from({ length: world.names }, (_, index) => domainNameAt(world, index))
const targets = [...names, HOT_TARGET as DomainName].sort()
const violations: Violations = { lost: 0, faults: 0, differing: 0, uncounted: 0 }
const totals: Totals = { acknowledged: 0, answered: 0 }
try {
  const [before, after] = [storeFilesIn(folder, 'before'), storeFilesIn(folder, 'after')]
  const file = await prepare(before, after)
  const expected = await digestAnswers(after, targets)
  const milliseconds = await measureImport(before, file)
  const work = storeFilesIn(folder, 'work')
  for (let crash = 0; crash < options.rounds; crash++) {
    const moment = Math.random()
    copyStore(before, work)
    if (crash % 2 === 0) await crashImport(work, file, moment * milliseconds)
    else await crashWriter(work, file, moment * milliseconds)
    await verifyStore(work, file, expected)
    await crashServer(work, file, moment * MAX_SERVER_MILLISECONDS, crash)
    await verifyStore(work, file, expected)
    console.error(`  ${crash + 1} of ${options.rounds}: ${JSON.stringify(violations)}`)
  }
  reportResults()
} finally {
  if (options.folder === null) rmSync(folder, { recursive: true })
}

function reportResults(): void {
  const notes = [
    `kill -9 at a random moment: ${options.rounds} times of an import or a writer, and as often of a server under load beside an import`,
    `${world.names.toLocaleString('en')} synthetic names with text, of which two thirds change`,
  ]
  const metrics = [
    metric(`lost observations, of ${totals.acknowledged.toLocaleString('en')} acknowledged`, violations.lost, ''),
    metric('stores in which check finds a fault', violations.faults, ''),
    metric('stores that respond differently after the import was run again', violations.differing, ''),
    metric(
      `calls that were answered and not counted, of ${totals.answered.toLocaleString('en')}`,
      violations.uncounted,
      '',
    ),
  ]
  const isFailed = Object.values(violations).some((count) => count > 0)
  report(
    'crash',
    metrics.map((each) => ({ ...each, target: '0', isMet: each.value === 0 })),
    notes,
    violations,
  )
  if (isFailed) process.exitCode = 1
}

/**
 * Creates the store after the first round, the store after both rounds, and the file of the second round. Returns the
 * path of that file.
 */
async function prepare(before: StoreFiles, after: StoreFiles): Promise<string> {
  const [first, next] = [join(folder, 'first.jsonl'), join(folder, 'second.jsonl')]
  writeObservations(first, world, firstProbeRound(), 'file')
  writeObservations(next, world, secondRound, 'file')
  for (const store of [before, after]) removeStore(store)
  await runProcess(domaindexCommand('import', first), { env: before.env })
  await createTokens(before, 2, world.seed)
  copyStore(before, after)
  await runProcess(domaindexCommand('import', next), { env: after.env })
  return next
}

/** Returns how long an undisturbed import takes, in milliseconds. */
async function measureImport(before: StoreFiles, file: string): Promise<number> {
  const store = storeFilesIn(folder, 'work')
  copyStore(before, store)
  const startedAt = performance.now()
  await runProcess(domaindexCommand('import', file), { env: store.env })
  return performance.now() - startedAt
}

async function crashImport(store: StoreFiles, file: string, milliseconds: number): Promise<void> {
  await killAfter(startProcess(domaindexCommand('import', file), { env: store.env, hasOwnGroup: true }), milliseconds)
}

/** Every observation that the writer acknowledged must be in the store. */
async function crashWriter(store: StoreFiles, file: string, milliseconds: number): Promise<void> {
  const script = fileURLToPath(new URL('./ingest/acknowledged-import.ts', import.meta.url))
  const writer = startProcess([process.execPath, script, store.url, file], { hasOwnGroup: true })
  await killAfter(writer, milliseconds)
  const written = Number(/.*written (\d+)/s.exec(writer.output())?.[1] ?? 0)
  totals.acknowledged += written
  const reopened = await openStore(store.url, { access: 'read', ledger: 'own', secret: null })
  for (let index = 0; index < written; index++) {
    const { domain, observed_at } = observationAt(world, index, secondRound)
    const { dns } = await reopened.facts.clocks(domain)
    if (dns !== Date.parse(observed_at) / 1000) violations.lost++
  }
  await reopened.close()
}

/** Every successful response must be counted, also those whose units the killed server had leased. */
async function crashServer(store: StoreFiles, file: string, milliseconds: number, crash: number): Promise<void> {
  const tokens = await createTokens(store, 2, world.seed)
  const server = await startDomaindex(store, { hasOwnGroup: true, workers: 2 })
  const importProcess = startProcess(domaindexCommand('import', file), { env: store.env })
  const answered = await lookupsUntilKilled(server.origin, tokens[crash % 2]!, () =>
    killAfter(server.running, milliseconds),
  )
  await stopProcess(importProcess)
  const reopened = await openStore(store.url, { access: 'read', ledger: 'own', secret: null })
  for (let second = 0; second <= SILENCE_SECONDS; second++) {
    await reopened.ledger.heartbeat('bench:crash', await reopened.now()) // only a live process expires silent ones
    await sleep(1_000)
  }
  await reopened.ledger.heartbeat('bench:crash', await reopened.now())
  const account = await reopened.ledger.account(`bench-${crash % 2}@example.com`)
  const used = await reopened.ledger.usedUnits(account!.id, dayOf(await reopened.now()))
  await reopened.close()
  totals.answered += answered
  violations.uncounted += Math.max(0, answered - used)
}

/** Sends lookups with several clients until the server is gone. Returns the number of successful responses. */
async function lookupsUntilKilled(origin: string, token: string, kill: () => Promise<void>): Promise<number> {
  let answered = 0
  const client = async (at: number): Promise<void> => {
    for (let sent = at; ; sent += CLIENTS) {
      const body = JSON.stringify({ token, query: names[sent % names.length] })
      try {
        const response = await fetch(`${origin}/v1.0/lookup`, { method: 'POST', body })
        await response.text()
        if (response.status === 200) answered++
      } catch {
        return
      }
    }
  }
  await Promise.all([kill(), ...Array.from({ length: CLIENTS }, (_, at) => client(at))])
  return answered
}

async function killAfter(running: RunningProcess, milliseconds: number): Promise<void> {
  await sleep(milliseconds)
  await stopProcess(running, 'SIGKILL')
}

/**
 * `check` must find nothing, and after the same import runs again, every response must be that of an undisturbed store.
 */
async function verifyStore(store: StoreFiles, file: string, expected: string): Promise<void> {
  const check = startProcess(domaindexCommand('check'), { env: store.env })
  if ((await check.exited) !== 0) {
    violations.faults++
    console.error(check.output())
  }
  await runProcess(domaindexCommand('import', file), { env: store.env })
  if ((await digestAnswers(store, targets)) !== expected) violations.differing++
}
