/**
 * `npm run bench:upgrade -- --from COMMIT`: upgrades stores of a former release while they are in use, runs both releases
 * side by side on one PostgreSQL, and goes back to the former one. No call may fail, no answer may differ from that of a
 * store which only this release wrote, and each call is counted once.
 */

import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { postJson } from './load/server.ts'
import { readTexts } from './measure/options.ts'
import {
  makeTemporaryFolder,
  ROOT,
  type RunningProcess,
  runProcess,
  startProcess,
  stopProcess,
  waitForOutput,
} from './measure/process.ts'
import { type Metric, metric, metricWithMax, report } from './measure/report.ts'
import { writeObservations } from './world/observation-files.ts'
import { connectionConfig, startPostgresServer } from './world/postgres.ts'
import { domainNameAt, firstProbeRound, HOT_ADDRESS, HOT_TARGET, nextProbeRound, type World } from './world/world.ts'

/** A release: a checkout with its packages. */
type Release = { name: 'former' | 'this'; folder: string }
type Server = { running: RunningProcess; origin: string }
type Engine = { name: string; url: string; reference: string; isServer: boolean }

const ENDPOINTS = ['lookup', 'dnshistory', 'redirect', 'reverseip'] as const
/** The plan that never runs out of calls here. */
const PLAN = 'premium'
/** Milliseconds between two calls of a loop, so that the day has enough of them. */
const PAUSE_MS = 5
const EXPANDS = /\.expand\.sql$/

const { names: count, from } = readTexts({ names: '2000', from: '' })
if (from === '') throw new Error('name the commit of the former release with --from')
const world: World = { seed: 1, names: Number(count), text: false }
const folder = makeTemporaryFolder()
const current: Release = { name: 'this', folder: ROOT }
const former: Release = { name: 'former', folder: join(folder, 'former') }
const metrics: Metric[] = []

/** The program of a release with one worker, no jobs and free ports. */
const settingsOf = (url: string): Record<string, string> => ({
  DOMAINDEX_STORE: url,
  DOMAINDEX_PORT: '0',
  DOMAINDEX_ADMIN: 'off',
  DOMAINDEX_JOB_TIMES: 'off',
  DOMAINDEX_WORKERS: '1',
  DOMAINDEX_POOL: '4',
  DOMAINDEX_FILES: join(folder, 'files'),
})

const commandOf = ({ folder: checkout }: Release, args: readonly string[]): string[] => [
  process.execPath,
  join(checkout, 'bin/domaindex.js'),
  ...args,
]

function run(release: Release, url: string, ...args: string[]): Promise<string> {
  return runProcess(commandOf(release, args), { env: settingsOf(url) })
}

async function serve(release: Release, url: string): Promise<Server> {
  const running = startProcess(commandOf(release, ['serve']), { env: settingsOf(url), hasOwnGroup: true })
  const [origin] = await waitForOutput(running, /http:\/\/[\d.]+:\d+/)
  return { running, origin }
}

/** Clones the former release and installs its packages. */
function checkOutFormer(): void {
  const git = (...args: string[]): void => void execFileSync('git', args, { stdio: 'ignore' })
  git('clone', '--quiet', '--no-checkout', ROOT, former.folder)
  git('-C', former.folder, 'checkout', '--quiet', from)
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: former.folder, stdio: 'ignore' })
}

/** The observations of three rounds: of the former release, while both run, and after the way back. */
function writeRounds(): string[] {
  let round = firstProbeRound()
  return [1, 2, 3].map((number) => {
    const path = join(folder, `round-${number}.jsonl`)
    writeObservations(path, world, round, 'slot')
    round = nextProbeRound(round)
    return path
  })
}

/** Calls that never stop, each to one of the servers that are in use. `servers` may change at any time. */
class Load {
  servers: readonly Server[] = []
  calls = 0
  readonly failures: string[] = []
  readonly #token: string
  #isOn = true
  readonly #loops: Promise<void>[]

  constructor(token: string, connections: number) {
    this.#token = token
    this.#loops = Array.from({ length: connections }, (_, index) => this.#loop(index))
  }

  async stop(): Promise<void> {
    this.#isOn = false
    await Promise.all(this.#loops)
  }

  async #loop(start: number): Promise<void> {
    for (let index = start; this.#isOn; index += 7) {
      const server = this.servers[index % Math.max(this.servers.length, 1)]
      if (server === undefined) {
        await sleep(PAUSE_MS)
        continue
      }
      const query = domainNameAt(world, index % world.names)
      this.calls++
      const outcome = await ask(server, this.#token, 'lookup', query).catch((error: Error) => error.message)
      if (typeof outcome === 'string') this.failures.push(outcome)
      await sleep(PAUSE_MS)
    }
  }
}

/** The body of an answer. Throws unless it is 200 or 404. */
async function ask({ origin }: Server, token: string, endpoint: string, query: string): Promise<object> {
  const { status, text } = await postJson(`${origin}/v1.0/${endpoint}`, { token, query })
  if (status !== 200 && status !== 404) throw new Error(`${status} ${text.slice(0, 200)}`)
  const { meta: _, ...body } = JSON.parse(text) as { meta?: unknown }
  return body
}

/** The answers of every endpoint for every tenth name, the busiest address and the most frequent target. */
async function answersOf(server: Server, token: string): Promise<Map<string, string>> {
  const names = Array.from({ length: Math.ceil(world.names / 10) }, (_, index) => domainNameAt(world, index * 10))
  const answers = new Map<string, string>()
  for (const endpoint of ENDPOINTS)
    for (const query of [...names, HOT_TARGET, ...(endpoint === 'reverseip' ? [HOT_ADDRESS] : [])])
      answers.set(`${endpoint} ${query}`, JSON.stringify(await ask(server, token, endpoint, query)))
  return answers
}

function differencesOf(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] {
  return [...one].flatMap(([call, answer]) => (other.get(call) === answer ? [] : [call]))
}

async function tokenOf(release: Release, url: string): Promise<string> {
  const created = await run(release, url, 'account', 'create', 'bench@example.com', '--plan', PLAN, '--json')
  return (JSON.parse(created) as { token: string }).token
}

/** The calls of all days, as the ledger has counted them. */
async function countedCalls(release: Release, url: string): Promise<number> {
  const { usage } = JSON.parse(await run(release, url, 'account', 'usage', 'bench@example.com', '--json')) as {
    usage: { calls: number }[]
  }
  return usage.reduce((sum, { calls }) => sum + calls, 0)
}

/** The answers after each round of a store that only this release wrote. */
async function referenceAnswers(url: string, rounds: readonly string[]): Promise<Map<string, string>[]> {
  const answers: Map<string, string>[] = []
  const token = await tokenOf(current, url)
  for (const path of rounds) {
    await run(current, url, 'import', path)
    const server = await serve(current, url)
    answers.push(await answersOf(server, token))
    await stopProcess(server.running)
  }
  return answers
}

/** Upgrades a store and goes back. Returns the migrations. */
async function upgrade({ name, url, reference, isServer }: Engine, rounds: readonly string[]): Promise<string[]> {
  const [first, second, third] = await referenceAnswers(reference, rounds)
  await run(former, url, 'import', rounds[0]!)
  const token = await tokenOf(former, url)
  const load = new Load(token, 4)
  let compared = 0
  let asked = 0
  const differing: string[] = []
  const compare = async (server: Server, expected: Map<string, string>): Promise<void> => {
    const found = await answersOf(server, token)
    asked += found.size
    compared += found.size
    differing.push(...differencesOf(found, expected))
  }
  let old = await serve(former, url)
  load.servers = [old]
  await compare(old, first!)
  const planned = (JSON.parse(await run(current, url, 'migrate', '--plan', '--json')) as { migrations: string[] })
    .migrations
  const isLive = isServer && planned.every((file) => EXPANDS.test(file))
  if (!isLive) {
    load.servers = []
    await stopProcess(old.running)
  }
  await run(current, url, 'migrate')
  const young = await serve(current, url)
  load.servers = isLive ? [old, young] : [young]
  await run(current, url, 'import', rounds[1]!)
  await compare(young, second!)
  if (isLive) await compare(old, second!)
  if (planned.every((file) => EXPANDS.test(file))) {
    if (!isServer) {
      load.servers = []
      await stopProcess(young.running)
      old = await serve(former, url)
    }
    load.servers = [old]
    if (isServer) await stopProcess(young.running)
    await run(former, url, 'import', rounds[2]!)
    await compare(old, third!)
    await load.stop()
    await stopProcess(old.running)
  } else {
    await load.stop()
    await stopProcess(young.running)
  }
  await run(current, url, 'check')
  const counted = await countedCalls(current, url)
  if (differing.length > 0) console.log(`${name}: different answers: ${differing.slice(0, 5).join(', ')}`)
  if (load.failures.length > 0) console.log(`${name}: failed calls: ${load.failures.slice(0, 5).join(', ')}`)
  metrics.push(
    metric(`${name}: both releases side by side`, Number(isLive), ''),
    metric(`${name}: calls under load`, load.calls, ''),
    metricWithMax(`${name}: failed calls`, load.failures.length, '', 0),
    metric(`${name}: compared answers`, compared, ''),
    metricWithMax(`${name}: different answers`, differing.length, '', 0),
    metricWithMax(`${name}: calls counted wrongly`, Math.abs(counted - load.calls - asked), '', 0),
  )
  return planned
}

checkOutFormer()
const rounds = writeRounds()
const postgres = await startPostgresServer(folder)
const client = new pg.Client({ ...connectionConfig(postgres.socket), database: 'postgres' })
await client.connect()
for (const database of ['upgrade', 'reference']) await client.query(`create database ${database}`)
await client.end()
const postgresUrl = (database: string): string => `postgres://bench@localhost/${database}?host=${postgres.socket}`
const engines: Engine[] = [
  {
    name: 'SQLite',
    url: `sqlite:${join(folder, 'a.db')}`,
    reference: `sqlite:${join(folder, 'b.db')}`,
    isServer: false,
  },
  { name: 'PostgreSQL', url: postgresUrl('upgrade'), reference: postgresUrl('reference'), isServer: true },
]
const migrations: Record<string, string[]> = {}
try {
  for (const engine of engines) migrations[engine.name] = await upgrade(engine, rounds)
  report('upgrade', metrics, [`from ${from}, ${world.names} names`], { from, migrations })
} finally {
  await stopProcess(postgres.running)
  rmSync(folder, { recursive: true, force: true })
}
