/** `npm run bench:postgres`: measures imports and responses on PostgreSQL and SQLite in one run. */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { LOAD_TOOL, type MeasuredLoad, runClosedLoad } from './load/closed-load.ts'
import { countFailures, postRequest, runKeepAliveLoad } from './load/keep-alive.ts'
import type { KeepAliveResult } from './load/keep-alive-load.ts'
import { DATABASE_CORE, type MeasuredServer, startDomaindex, startYardstick } from './load/server.ts'
import { type BenchOptions, readOptions } from './measure/options.ts'
import {
  domaindexCommand,
  makeTemporaryFolder,
  measureCommand,
  pinProcess,
  type ResourceUsage,
  runProcess,
  stopProcess,
} from './measure/process.ts'
import { type Metric, metric, metricWithMax, metricWithMin, report } from './measure/report.ts'
import { medianOf, runInterleaved } from './measure/rounds.ts'
import { lookups } from './serve/pages.ts'
import { computeExpectedAnswers, type ExpectedAnswers, verifyLookups, verifyPages } from './world/answers.ts'
import { type LineOrder, writeObservations } from './world/observation-files.ts'
import { connectionConfig, type PostgresServer, startFilledPostgres } from './world/postgres.ts'
import { createTokens, removeStore, type StoreFiles, storeFilesIn } from './world/store.ts'
import { firstProbeRound, HOT_ADDRESS, nextProbeRound, type ProbeRound, type World } from './world/world.ts'

const ENGINES = ['SQLite', 'PostgreSQL'] as const
type Engine = (typeof ENGINES)[number]
type ImportRun = { rate: number; usage: ResourceUsage }

const ACCOUNTS = 200
const CONNECTIONS = { lookup: 64, page: 16 }
const VERIFIED_LOOKUPS = 300
const PAGE_ROWS = 1000
/** After these seconds, every account holds a lease. */
const STEADY_AFTER_SECONDS = 2
const SEED = 1

const second = nextProbeRound(firstProbeRound())
const IMPORTS: { name: string; order: LineOrder; round: ProbeRound; target: number }[] = [
  { name: 'new', order: 'file', round: firstProbeRound(), target: 5_000 },
  { name: 'unchanged, in file order', order: 'file', round: second, target: 20_000 },
  { name: 'unchanged, in slot order', order: 'slot', round: nextProbeRound(second), target: 20_000 },
]

const options = readOptions(100_000, 5, 3)
const folder = options.folder ?? makeTemporaryFolder()
mkdirSync(folder, { recursive: true })
const world: World = { seed: SEED, names: options.names, text: false }
const files = storeFilesIn(folder, 'sqlite')
const tokens: string[] = await createTokens(files, ACCOUNTS, SEED)
const postgres = await startFilledPostgres(folder, world, tokens)
const url = `postgres://bench@localhost/domaindex?host=${postgres.socket}`
const stores: Record<Engine, StoreFiles> = {
  SQLite: files,
  PostgreSQL: { ...storeFilesIn(folder, 'postgres'), url, env: { DOMAINDEX_STORE: url } },
}
const servers: MeasuredServer[] = []
try {
  const metrics: Metric[] = []
  const raw: Record<string, unknown> = {}
  await measureIngest(stores, postgres, options, metrics, raw)
  if (options.only !== 'ingest') await measureServe(stores, postgres, metrics, raw)
  report('postgres', metrics, notes(options), raw)
} finally {
  for (const { running } of [...servers, postgres]) await stopProcess(running)
  if (options.folder === null) rmSync(folder, { recursive: true })
}

function notes({ names, rounds, seconds }: BenchOptions): string[] {
  return [
    `${names.toLocaleString('en')} synthetic names, seed ${SEED}; median of ${rounds} interleaved rounds; PostgreSQL 18 on the same machine, durable`,
    `import: the whole process, on all cores; serve: one worker with its primary, and PostgreSQL, on the first core, ${LOAD_TOOL} for ${seconds} s on the second`,
    `p99 after ${STEADY_AFTER_SECONDS} s: ${CONNECTIONS.lookup} connections of bench/load/keep-alive-load.ts instead`,
    'processor time: of the server and of PostgreSQL, per response',
  ]
}

/** In each round, both engines import the same three files into an empty store, one engine after the other. */
async function measureIngest(
  stores: Record<Engine, StoreFiles>,
  postgres: PostgresServer,
  { names, rounds }: BenchOptions,
  metrics: Metric[],
  raw: Record<string, unknown>,
): Promise<void> {
  const runs: Record<string, Record<Engine, ImportRun[]>> = {}
  for (let round = 0; round < rounds; round++) {
    removeStore(stores.SQLite)
    await emptyDatabase(postgres)
    for (const { name, order, round: probeRound } of IMPORTS) {
      const path = join(folder, 'round.jsonl')
      writeObservations(path, world, probeRound, order)
      for (const engine of ENGINES) {
        const { output, seconds, usage } = await measureCommand(['import', path], { env: stores[engine].env })
        const count = new RegExp(`${name === 'new' ? 'applied' : 'unchanged'} ${names},`)
        if (!count.test(output)) throw new Error(`the counts of the import are wrong: ${output}`)
        runs[name] ??= { SQLite: [], PostgreSQL: [] }
        runs[name][engine].push({ rate: names / seconds, usage })
        console.error(`  ${engine}, ${name}: ${Math.round(names / seconds)}/s`)
      }
    }
  }
  for (const { name, target } of IMPORTS) {
    const [sqlite, ours] = ENGINES.map((engine) => medianOf(runs[name]![engine], ({ rate }) => rate))
    metrics.push(metricWithMin(`${name}, PostgreSQL`, ours!, 'observations/s', target))
    metrics.push(metric('  SQLite', sqlite!, 'observations/s'))
    metrics.push(metric('  PostgreSQL to SQLite', ours! / sqlite!, '×'))
  }
  raw.ingest = runs
}

async function emptyDatabase({ socket }: PostgresServer): Promise<void> {
  const client = new pg.Client(connectionConfig(socket))
  await client.connect()
  await client.query('drop database if exists domaindex with (force)')
  await client.query('create database domaindex')
  await client.end()
}

async function measureServe(
  stores: Record<Engine, StoreFiles>,
  postgres: PostgresServer,
  metrics: Metric[],
  raw: Record<string, unknown>,
): Promise<void> {
  for (const engine of ENGINES) await createTokens(stores[engine], ACCOUNTS, SEED)
  await runProcess(domaindexCommand('check'), { env: stores.PostgreSQL.env })
  await pinProcess(postgres.running, DATABASE_CORE)
  const sqlite = await startDomaindex(stores.SQLite)
  const ours = await startDomaindex(stores.PostgreSQL)
  const express = await startYardstick('express', { PG_SOCKET: postgres.socket })
  servers.push(sqlite, ours, express)
  const expected = computeExpectedAnswers(world, VERIFIED_LOOKUPS)
  await verify([sqlite, ours], expected)
  await compareLookups({ sqlite, ours, express, postgres }, expected, metrics, raw)
  await comparePages({ sqlite, ours, express, postgres }, metrics, raw)
  await verify([ours], expected)
}

async function verify(servers: readonly MeasuredServer[], expected: ExpectedAnswers): Promise<void> {
  for (const server of servers) {
    await verifyLookups(server, expected, tokens[0]!)
    await verifyPages(`${server.origin}/v1.0/reverseip`, expected, tokens[0]!, PAGE_ROWS)
  }
}

type Contenders = Record<'sqlite' | 'ours' | 'express', MeasuredServer> & { postgres: PostgresServer }

async function compareLookups(
  { sqlite, ours, express, postgres }: Contenders,
  expected: ExpectedAnswers,
  metrics: Metric[],
  raw: Record<string, unknown>,
): Promise<void> {
  const bodies = lookups({ folder, options, world, tokens, ours, express, postgres, expected })
  const load = { bodies, connections: CONNECTIONS.lookup, seconds: options.seconds }
  const at = (server: MeasuredServer, path: string, others: Pick<MeasuredServer, 'running'>[]) => () =>
    runClosedLoad(folder, { ...load, url: server.origin + path, servers: [server, ...others] })
  const contenders = {
    ours: at(ours, '/v1.0/lookup', [postgres]),
    sqlite: at(sqlite, '/v1.0/lookup', []),
    point: at(express, '/point', [postgres]),
    job: at(express, '/v1.0/lookup', [postgres]),
  }
  await runInterleaved(1, contenders)
  const figures = await runInterleaved(options.rounds, contenders)
  const p99 = (loads: readonly { p99: number }[]): number => medianOf(loads, (each) => each.p99)
  const steady = await runInterleaved(options.rounds, {
    ours: () => runSteadyLoad(ours, '/v1.0/lookup', bodies),
    point: () => runSteadyLoad(express, '/point', bodies),
  })
  raw.lookup = { ...figures, steady }
  metrics.push(
    ...both('/lookup, PostgreSQL', 'requests/s', figures.ours),
    metric('  p99 under full load, with the first calls of each account', p99(figures.ours), 'ms'),
    metric('    express + pg, one point query', p99(figures.point), 'ms'),
    metricWithMax(`  p99 under full load, after ${STEADY_AFTER_SECONDS} s`, p99(steady.ours), 'ms', 30),
    metric('    express + pg, one point query', p99(steady.point), 'ms'),
    ...both('  SQLite', 'requests/s', figures.sqlite),
    ...both('  express + pg, one point query', 'requests/s', figures.point),
    ...both('  express + pg, the same job', 'requests/s', figures.job),
    ...ratios('  PostgreSQL to the point query', figures.ours, figures.point, 1),
    ...ratios('  PostgreSQL to the same job', figures.ours, figures.job),
    ...ratios('  PostgreSQL to SQLite', figures.ours, figures.sqlite),
  )
}

/** Loads a server, and measures after some seconds. Throws if a response is not 200. */
async function runSteadyLoad(
  { origin }: MeasuredServer,
  path: string,
  bodies: readonly unknown[],
): Promise<KeepAliveResult> {
  const result = await runKeepAliveLoad(folder, {
    port: Number(new URL(origin).port),
    connections: CONNECTIONS.lookup,
    depth: 1,
    warmUpSeconds: STEADY_AFTER_SECONDS,
    seconds: options.seconds,
    requests: bodies.map((body) => postRequest(path, body)),
  })
  if (countFailures(result) > 0) throw new Error(`${origin}${path}: ${JSON.stringify(result)}`)
  return result
}

async function comparePages(
  { sqlite, ours, express, postgres }: Contenders,
  metrics: Metric[],
  raw: Record<string, unknown>,
): Promise<void> {
  const bodies = tokens.map((token) => ({ token, query: HOT_ADDRESS, limit: PAGE_ROWS }))
  const load = { bodies, connections: CONNECTIONS.page, seconds: options.seconds }
  const at = (server: MeasuredServer, path: string, others: Pick<MeasuredServer, 'running'>[]) => () =>
    runClosedLoad(folder, { ...load, url: server.origin + path, servers: [server, ...others] })
  const figures = await runInterleaved(options.rounds, {
    ours: at(ours, '/v1.0/reverseip', [postgres]),
    sqlite: at(sqlite, '/v1.0/reverseip', []),
    text: at(express, '/text/reverseip', [postgres]),
  })
  raw.pages = figures
  metrics.push(
    ...both(`/reverseip, ${PAGE_ROWS} rows, PostgreSQL`, 'pages/s', figures.ours),
    ...both('  SQLite', 'pages/s', figures.sqlite),
    ...both('  express + pg, json_agg', 'pages/s', figures.text),
    ...ratios('  PostgreSQL to json_agg', figures.ours, figures.text),
  )
}

function rateOf(loads: readonly MeasuredLoad[]): number {
  return medianOf(loads, ({ rate }) => rate)
}

function cpuOf(loads: readonly MeasuredLoad[]): number {
  return medianOf(loads, ({ cpuMicroseconds }) => cpuMicroseconds)
}

function both(name: string, unit: string, loads: readonly MeasuredLoad[]): Metric[] {
  return [metric(name, rateOf(loads), unit), metric('    processor time', cpuOf(loads), 'µs')]
}

/** The speed compared with another contender, by rate and by processor time. `min`: the target of both, if any. */
function ratios(name: string, ours: readonly MeasuredLoad[], other: readonly MeasuredLoad[], min?: number): Metric[] {
  const ratio = (label: string, value: number): Metric =>
    min === undefined ? metric(label, value, '×') : metricWithMin(label, value, '×', min)
  return [ratio(name, rateOf(ours) / rateOf(other)), ratio('    by processor time', cpuOf(other) / cpuOf(ours))]
}
