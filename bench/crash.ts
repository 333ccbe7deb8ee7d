/** `npm run bench:crash`: ends imports and servers by kill -9 at random moments, and looks what is left. */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openStore } from '../src/store/open.ts'
import type { DomainName } from '../src/values/domain-name.ts'
import { dayOf } from '../src/values/time.ts'
import { serve } from './load/server.ts'
import { readOptions } from './measure/options.ts'
import { domaindex, end, run, type Started, start, temporary } from './measure/process.ts'
import { figure, report } from './measure/report.ts'
import { digestOf } from './world/digest.ts'
import { writeRound } from './world/observation-files.ts'
import { copyStore, makeTokens, removeStore, type StoreFiles, storeIn } from './world/store.ts'
import { firstRound, HOT_TARGET, nameOf, nextRound, type Round, seenOf, type World } from './world/world.ts'

/** What the crashes found; each ought to be 0. */
type Found = { lost: number; faults: number; differing: number; uncounted: number }
/** What they were found among. */
type Among = { acknowledged: number; answered: number }

const CRASHES = 50
const CLIENTS = 8
/** After this a process that was not heard of has spent what it held. */
const SILENCE_MILLISECONDS = 3000
const LONGEST_SERVED_MILLISECONDS = 3000
/** Two thirds of the names see other addresses on the second visit. */
const second: Round = { ...nextRound(firstRound()), changed: 0.66 }

const options = readOptions(20_000, 0, CRASHES)
const folder = options.folder ?? temporary()
mkdirSync(folder, { recursive: true })
const world: World = { seed: 1, names: options.names, text: true }
const names: DomainName[] = Array.from({ length: world.names }, (_, index) => nameOf(world, index))
const targets = [...names, HOT_TARGET as DomainName].sort()
const found: Found = { lost: 0, faults: 0, differing: 0, uncounted: 0 }
const among: Among = { acknowledged: 0, answered: 0 }
try {
  const [before, after] = [storeIn(folder, 'before'), storeIn(folder, 'after')]
  const file = await prepare(before, after)
  const expected = await digestOf(after, targets)
  const milliseconds = await imports(before, file)
  const work = storeIn(folder, 'work')
  for (let crash = 0; crash < options.rounds; crash++) {
    const moment = Math.random()
    copyStore(before, work)
    if (crash % 2 === 0) await crashImport(work, file, moment * milliseconds)
    else await crashWriter(work, file, moment * milliseconds)
    await judge(work, file, expected)
    await crashServer(work, file, moment * LONGEST_SERVED_MILLISECONDS, crash)
    await judge(work, file, expected)
    console.error(`  ${crash + 1} of ${options.rounds}: ${JSON.stringify(found)}`)
  }
  tell()
} finally {
  if (options.folder === null) rmSync(folder, { recursive: true })
}

function tell(): void {
  const notes = [
    `${options.rounds} times an import or a writer, and as often a server under load beside an import, at a random moment`,
    `${world.names.toLocaleString('en')} made-up names with text, of which two thirds change`,
  ]
  const lines = [
    figure(`of ${among.acknowledged.toLocaleString('en')} acknowledged observations lost`, found.lost, ''),
    figure('stores in which check finds a fault', found.faults, ''),
    figure('stores that answer otherwise after the import was run again', found.differing, ''),
    figure(`of ${among.answered.toLocaleString('en')} answered calls not counted`, found.uncounted, ''),
  ]
  const wrong = Object.values(found).some((count) => count > 0)
  report(
    'crash',
    lines.map((line) => ({ ...line, aim: '0', met: line.figure === 0 })),
    notes,
    found,
  )
  if (wrong) process.exitCode = 1
}

/** Makes the store after the first visit, that after the second too, and the file of the second. */
async function prepare(before: StoreFiles, after: StoreFiles): Promise<string> {
  const [first, next] = [join(folder, 'first.jsonl'), join(folder, 'second.jsonl')]
  writeRound(first, world, firstRound(), 'file')
  writeRound(next, world, second, 'file')
  for (const store of [before, after]) removeStore(store)
  await run(domaindex('import', first), { env: before.env })
  await makeTokens(before, 2, world.seed)
  copyStore(before, after)
  await run(domaindex('import', next), { env: after.env })
  return next
}

/** How long an import takes that nobody disturbs, in milliseconds. */
async function imports(before: StoreFiles, file: string): Promise<number> {
  const store = storeIn(folder, 'work')
  copyStore(before, store)
  const begun = performance.now()
  await run(domaindex('import', file), { env: store.env })
  return performance.now() - begun
}

async function crashImport(store: StoreFiles, file: string, milliseconds: number): Promise<void> {
  await killAfter(start(domaindex('import', file), { env: store.env, group: true }), milliseconds)
}

/** Every observation that the writer said was written must be there. */
async function crashWriter(store: StoreFiles, file: string, milliseconds: number): Promise<void> {
  const script = fileURLToPath(new URL('./ingest/acknowledged-import.ts', import.meta.url))
  const writer = start([process.execPath, script, store.url, file], { group: true })
  await killAfter(writer, milliseconds)
  const written = Number(/.*written (\d+)/s.exec(writer.said())?.[1] ?? 0)
  among.acknowledged += written
  const left = await openStore(store.url, { access: 'read', ledger: 'own', secret: null })
  for (let index = 0; index < written; index++) {
    const { domain, observed_at } = seenOf(world, index, second)
    const { dns } = await left.facts.clocks(domain)
    if (dns !== Date.parse(observed_at) / 1000) found.lost++
  }
  await left.close()
}

/** Every call that was answered must have been counted, also those of units that the server held. */
async function crashServer(store: StoreFiles, file: string, milliseconds: number, crash: number): Promise<void> {
  const tokens = await makeTokens(store, 2, world.seed)
  const server = await serve(store, { group: true, workers: 2 })
  const importing = start(domaindex('import', file), { env: store.env })
  const answered = await askUntilEnd(server.origin, tokens[crash % 2]!, () => killAfter(server.started, milliseconds))
  await end(importing)
  await new Promise((done) => setTimeout(done, SILENCE_MILLISECONDS))
  const left = await openStore(store.url, { access: 'read', ledger: 'own', secret: null })
  const account = await left.ledger.account(`bench-${crash % 2}@example.com`)
  await left.ledger.heartbeat('bench:crash', await left.now()) // whoever is heard strikes off those who are not
  const used = await left.ledger.usedUnits(account!.id, dayOf(await left.now()))
  await left.close()
  among.answered += answered
  found.uncounted += Math.max(0, answered - used)
}

/** Clients that ask one after another until nobody answers; the number of answers. */
async function askUntilEnd(origin: string, token: string, kill: () => Promise<void>): Promise<number> {
  let answered = 0
  const client = async (at: number): Promise<void> => {
    for (let asked = at; ; asked += CLIENTS) {
      const body = JSON.stringify({ token, query: names[asked % names.length] })
      try {
        const answer = await fetch(`${origin}/v1.0/lookup`, { method: 'POST', body })
        await answer.text()
        if (answer.status === 200) answered++
      } catch {
        return
      }
    }
  }
  await Promise.all([kill(), ...Array.from({ length: CLIENTS }, (_, at) => client(at))])
  return answered
}

async function killAfter(started: Started, milliseconds: number): Promise<void> {
  await new Promise((done) => setTimeout(done, milliseconds))
  await end(started, 'SIGKILL')
}

/** check must find nothing, and the import run again must end in the answers of one that nobody disturbed. */
async function judge(store: StoreFiles, file: string, expected: string): Promise<void> {
  const check = start(domaindex('check'), { env: store.env })
  if ((await check.ended) !== 0) {
    found.faults++
    console.error(check.said())
  }
  await run(domaindex('import', file), { env: store.env })
  if ((await digestOf(store, targets)) !== expected) found.differing++
}
