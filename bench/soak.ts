/**
 * `npm run bench:soak`: a whole installation for 20 minutes under calls, imports, a crawl, jobs every minute, watches, a
 * webhook and a certificate log, while processes are killed, the disk is full, the resolver is away, and PostgreSQL is
 * restarted. No answer may be wrong, nothing acknowledged may be lost, and nothing may grow that should not.
 */

import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { addDays, dayOf } from '../src/values/time.ts'
import { readOptions } from './measure/options.ts'
import { type Metric, metric, metricWithMax, report } from './measure/report.ts'
import { faultsOf } from './soak/fault-list.ts'
import { Faults } from './soak/faults.ts'
import { Installation, type SoakEngine } from './soak/installation.ts'
import { historyIn, Judge } from './soak/judge.ts'
import { SoakLoad } from './soak/load.ts'
import { CrawledNames, checkHistory, ImportedNames, type ShownHistory } from './soak/model.ts'
import { bytesOfFolder, Samples } from './soak/samples.ts'
import { openSurroundings, type Surroundings } from './soak/surroundings.ts'
import { seededRandom } from './world/random.ts'

/** Everything of one soak. `until`: when it ends, by performance.now(). `tokens`: of accounts, the first has the watch. */
type Soak = {
  engine: SoakEngine
  installation: Installation
  surroundings: Surroundings
  imported: ImportedNames
  crawled: CrawledNames
  judge: Judge
  tokens: readonly string[]
  random: () => number
  until: number
}

const CALLS_PER_SECOND = 500
const IMPORT_NAMES = 200
const IMPORT_PAUSE_MS = 2_000
/** The share of imports that are killed and repeated. */
const KILLED_IMPORTS = 0.1
const CRAWLED = 100
/** Milliseconds between two changes of what the resolver answers, and the share of names that change. */
const CHANGE_MS = 10_000
const CHANGED_SHARE = 0.1
const ACCOUNTS = 20
const SAMPLE_MS = 5_000
/**
 * Seconds after the end in which the crawler, the index and the deliveries catch up. Names that a killed crawler had taken
 * are probed again after five minutes.
 */
const SETTLE_SECONDS = 400
/** If a figure grows by more than this factor from the second to the last quarter, it is not flat. */
const MAX_GROWTH = 1.25
/** Seconds in which an event reaches the webhook after an answer has shown it. */
const DELIVERY_SECONDS = 30
const MAX_PRINTED = 10

const options = readOptions(2_000, 1_200, 1)
const metrics: Metric[] = []
const raw: Record<string, unknown> = {}

async function soak(engine: SoakEngine): Promise<void> {
  const crawled = new CrawledNames(CRAWLED)
  const surroundings = await openSurroundings(crawled)
  const { resolver } = surroundings
  const installation = await Installation.create(engine, `${resolver.address}:${resolver.port}`)
  try {
    const imported = new ImportedNames(options.names)
    const tokens = await prepare(installation, surroundings, crawled)
    const random = seededRandom(Date.now() % 1e9, 1, 1)
    const until = performance.now() + options.seconds * 1_000
    const judge = new Judge(imported, crawled)
    await examine({ engine, installation, surroundings, imported, crawled, judge, tokens, random, until })
  } finally {
    await installation.remove()
    await surroundings.close()
  }
}

/** Fills the store and starts the server. Returns the tokens. */
async function prepare(installation: Installation, surroundings: Surroundings, crawled: CrawledNames) {
  surroundings.writeLogList(installation.path('logs.json'))
  writeFileSync(installation.path('crawled.txt'), `${crawled.names.join('\n')}\n`)
  await installation.run(['import', '--format', 'names', '--no-registrations', installation.path('crawled.txt')])
  const tokens: string[] = []
  for (let index = 0; index < ACCOUNTS; index++) {
    const account = [
      'account',
      'create',
      `soak${index}@example.com`,
      '--period',
      'premium:2020-01-01..',
      '--addon',
      'export',
      '--json',
    ]
    tokens.push((JSON.parse(await installation.run(account)) as { token: string }).token)
  }
  await installation.serve()
  const owner = { installation, tokens }
  await call(owner, '/watches', { kind: 'suffix', value: 'soak.example' })
  await call(owner, '/webhooks', { url: surroundings.webhook })
  return tokens
}

/** Calls the API as the first account. Throws if the status is not 2xx. */
async function call({ installation, tokens }: Pick<Soak, 'installation' | 'tokens'>, path: string, body?: object) {
  const headers = { Authorization: `Bearer ${tokens[0]}`, 'Content-Type': 'application/json' }
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(`${installation.origin}${path}`, init)
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return text
}

async function examine(run: Soak): Promise<void> {
  const { installation, surroundings, imported, crawled, judge, tokens, random, until } = run
  const faults = new Faults(faultsOf(installation, surroundings, random), () => installation.waitUntilReady(), random)
  const origin = () => installation.origin
  const isBroken = () => faults.isBroken()
  const load = new SoakLoad({ rate: CALLS_PER_SECOND, origin, tokens, imported, crawled, judge, random, isBroken })
  const samples = new Samples()
  const [imports] = await Promise.all([
    importRepeatedly(run),
    faults.run(until),
    changeRepeatedly(run),
    sampleRepeatedly(run, samples),
  ])
  await load.stop()
  await sleep(SETTLE_SECONDS * 1_000)
  const found = { ...(await compareHistories(run)), ...(await compareEvents(run)) }
  await installation.stopServing()
  const checked = await installation.run(['check'], [0, 1])
  addMetrics(run, { tally: load.tally, done: faults.done, imports, samples, ...found, checked })
}

/** Imports new states until the end, half of them of one name after another. An import that was killed is repeated. */
async function importRepeatedly({ installation, imported, random, until }: Soak) {
  const count = { done: 0, repeated: 0 }
  const path = installation.path('batch.jsonl')
  for (let next = 0; performance.now() < until; ) {
    const indexes = Array.from({ length: IMPORT_NAMES }, (_, position) =>
      position % 2 === 0 ? next++ % options.names : Math.floor(random() * options.names),
    )
    writeFileSync(
      path,
      imported
        .begin(indexes)
        .map((each) => `${JSON.stringify(each)}\n`)
        .join(''),
    )
    for (let isDone = false; !isDone; ) {
      const importer = installation.start(['import', path])
      if (random() < KILLED_IMPORTS) setTimeout(() => importer.child.kill('SIGKILL'), random() * 2_000)
      isDone = (await importer.exited) === 0
      if (!isDone) count.repeated++
    }
    imported.acknowledge()
    count.done++
    await sleep(IMPORT_PAUSE_MS)
  }
  return count
}

/** Changes what the resolver answers, and puts a longer list of names into the inbox. */
async function changeRepeatedly({ installation, surroundings, imported, judge, random, until }: Soak): Promise<void> {
  for (let size = 100; performance.now() < until; size += 5) {
    await sleep(CHANGE_MS)
    surroundings.change(random, CHANGED_SHARE)
    const yesterday = addDays(dayOf(Math.floor(Date.now() / 1_000)), -1)
    const names = imported.names.slice(0, size)
    judge.listWritten(yesterday, names.length)
    writeFileSync(installation.path(`inbox/soak-${yesterday}.names`), names.join('\n'))
  }
}

async function sampleRepeatedly({ installation, until }: Soak, samples: Samples): Promise<void> {
  while (performance.now() < until) {
    await sleep(SAMPLE_MS)
    samples.addProcesses(installation.server.child.pid!)
  }
}

/** Compares the history of every name with the model. */
async function compareHistories(run: Soak): Promise<{ lost: string[]; stale: string[] }> {
  const { imported, crawled } = run
  const endMoment = imported.beginMoment()
  const lost: string[] = []
  for (const [index, name] of imported.names.entries()) {
    const wrong = checkHistory(imported, index, endMoment().range(index), await readHistory(run, name))
    if (wrong !== null) lost.push(wrong)
  }
  const stale: string[] = []
  for (const [index, name] of crawled.names.entries())
    if (!crawled.isCurrent(index, (await readHistory(run, name)).states[0]?.address)) stale.push(name)
  return { lost, stale }
}

/** All states of type A of a name, page by page. */
async function readHistory(run: Soak, query: string): Promise<ShownHistory> {
  const states: ShownHistory['states'][number][] = []
  for (let next: string | undefined; ; ) {
    const values = { token: run.tokens[1]!, query, type: 'A', limit: '100', ...(next === undefined ? {} : { next }) }
    const text = await call(run, `/v1.0/dnshistory?${new URLSearchParams(values)}`)
    states.push(...historyIn(text).states)
    next = (JSON.parse(text) as { meta: { next?: string } }).meta.next
    if (next === undefined) return { states, total: states.length }
  }
}

/** The number of events of the first account, and of those that its webhook did not receive within some seconds. */
async function compareEvents(run: Soak): Promise<{ events: number; undelivered: number }> {
  const ids: number[] = []
  for (let after = 0, isMore = true; isMore; ) {
    const { result } = JSON.parse(await call(run, `/events?after=${after}&limit=1000`)) as { result: { id: number }[] }
    ids.push(...result.map(({ id }) => id))
    isMore = result.length > 0
    after = ids.at(-1) ?? after
  }
  await sleep(DELIVERY_SECONDS * 1_000)
  const delivered = new Set([...run.surroundings.received].map((id) => Number(id.split('_')[1])))
  return { events: ids.length, undelivered: ids.filter((id) => !delivered.has(id)).length }
}

type Outcome = Awaited<ReturnType<typeof compareHistories>> &
  Awaited<ReturnType<typeof compareEvents>> & {
    tally: SoakLoad['tally']
    done: Record<string, number>
    imports: Awaited<ReturnType<typeof importRepeatedly>>
    samples: Samples
    /** The output of `domaindex check`. */
    checked: string
  }

function addMetrics({ engine, installation, imported }: Soak, outcome: Outcome): void {
  const { tally, done, imports, samples, lost, stale, events, undelivered, checked } = outcome
  const growth = samples.growth()
  const grown = growth.filter(({ factor }) => factor > MAX_GROWTH)
  raw[engine] = { ...outcome, samples: growth, checked: checked.slice(0, 5_000) }
  const wrong = Object.entries(tally.wrongBy).flatMap(([endpoint, { count, first, last, texts }]) => [
    `/${endpoint}: ${count} wrong answers from ${first} s to ${last} s`,
    ...texts,
  ])
  const problems = [tally.failures, wrong, lost, stale, grown.map((each) => JSON.stringify(each))]
  for (const text of problems.flatMap((list) => list.slice(0, MAX_PRINTED))) console.log(`${engine}: ${text}`)
  const none = (text: string, count: number): Metric => metricWithMax(`${engine}: ${text}`, count, '', 0)
  const plain = (text: string, value: number, unit = ''): Metric => metric(`${engine}: ${text}`, value, unit)
  metrics.push(
    ...Object.entries(done).map(([name, count]) => plain(name, count)),
    plain('imports', imports.done),
    plain('imports that were killed or failed, and repeated', imports.repeated),
    plain('imported states', imported.states),
    plain('calls answered', tally.answered),
    plain('calls that a fault interrupted', tally.interrupted),
    plain('calls that were not sent, because too many were open', tally.omitted),
    none('calls that failed without a fault', tally.failed),
    none('wrong answers', tally.wrong),
    none('imported names whose states are not exactly those', lost.length),
    none('crawled names that are not current', stale.length),
    plain('events', events),
    none('events that the webhook did not receive', undelivered),
    none('findings of check', Number(/faults (\d+)/.exec(checked)?.[1] ?? Number.NaN)),
    none('figures of processes that grew by more than a quarter', grown.length),
    plain('log', installation.logBytes, 'B'),
    ...(installation.disk === null ? [] : [plain('store', bytesOfFolder(installation.disk), 'B')]),
  )
}

for (const engine of ['SQLite', 'PostgreSQL'] as const)
  if (options.only === null || options.only === engine) await soak(engine)
report('soak', metrics, [`${options.seconds} seconds, ${options.names} names`], raw)
process.exit()
