/**
 * `npm run bench:serve`: measures the speed of one worker, compared with a bare server and with express on PostgreSQL.
 */

import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { LOAD_TOOL, type MeasuredLoad, runClosedLoad } from './load/closed-load.ts'
import { DATABASE_CORE, type MeasuredServer, startDomaindex, startYardstick } from './load/server.ts'
import { readOptions } from './measure/options.ts'
import { makeTemporaryFolder, pinProcess, stopProcess } from './measure/process.ts'
import { type Metric, metric, metricWithMax, metricWithMin, report } from './measure/report.ts'
import { medianOf, runInterleaved } from './measure/rounds.ts'
import { lookups, measureDepth, measureLookupsDuringPages, measurePages, type ServeBench } from './serve/pages.ts'
import { measureShortPages } from './serve/short-pages.ts'
import { computeExpectedAnswers, verifyLookups, verifyPages, verifyRedirects } from './world/answers.ts'
import { importWorld } from './world/imported-world.ts'
import { startFilledPostgres } from './world/postgres.ts'
import { createTokens, storeFilesIn } from './world/store.ts'
import type { World } from './world/world.ts'

const ACCOUNTS = 200
const CONNECTIONS = 64
const VERIFIED_LOOKUPS = 1000

const options = readOptions(1_000_000, 5)
const folder = options.folder ?? makeTemporaryFolder()
mkdirSync(folder, { recursive: true })
const world: World = { seed: 1, names: options.names, text: false }
const store = storeFilesIn(folder)
if (!existsSync(store.facts)) await importWorld(folder, store, world)
const tokens = await createTokens(store, ACCOUNTS, world.seed)
const postgres = await startFilledPostgres(folder, world, tokens)
await pinProcess(postgres.running, DATABASE_CORE)
const ours = await startDomaindex(store)
const express = await startYardstick('express', { PG_SOCKET: postgres.socket })
const servers = [ours, express]
try {
  const expected = computeExpectedAnswers(world, VERIFIED_LOOKUPS)
  const bench: ServeBench = { folder, options, world, tokens, ours, express, postgres, expected }
  await verify(bench)
  const metrics: Metric[] = []
  const raw: Record<string, unknown> = {}
  if (options.only === null || options.only === 'lookup') await measureLookup(bench, metrics, raw)
  if (options.only === null || options.only === 'short-pages') await measureShortPages(bench, metrics, raw)
  if (options.only === null || options.only === 'pages') await measurePages(bench, metrics, raw)
  if (options.only === null || options.only === 'paging') await measureDepth(bench, metrics, raw)
  if (options.only === null || options.only === 'paging') await measureLookupsDuringPages(bench, metrics, raw)
  await verifyLookups(ours, expected, tokens[0]!)
  report('serve', metrics, notes(), raw)
} finally {
  for (const { running } of [...servers, postgres]) await stopProcess(running)
  if (options.folder === null) rmSync(folder, { recursive: true })
}

function notes(): string[] {
  return [
    `${options.names.toLocaleString('en')} synthetic names, seed ${world.seed}; median of ${options.rounds} interleaved runs of ${options.seconds} s; load by ${LOAD_TOOL}`,
    `one worker with its primary, and PostgreSQL, on the first core, with an access log; load on the second core; ${VERIFIED_LOOKUPS.toLocaleString('en')} lookups and all pages verified`,
  ]
}

async function verify({ ours, express, expected, tokens }: ServeBench): Promise<void> {
  const [token] = tokens as [string]
  for (const server of [ours, express]) {
    await verifyLookups(server, expected, token)
    await verifyPages(`${server.origin}/v1.0/reverseip`, expected, token, 50_000)
  }
  await verifyPages(`${ours.origin}/v1.0/reverseip`, expected, token, 1000)
  await verifyPages(`${express.origin}/text/reverseip`, expected, token, 50_000)
  await verifyRedirects(ours, expected, token)
}

async function measureLookup(bench: ServeBench, metrics: Metric[], raw: Record<string, unknown>): Promise<void> {
  const { expected, ours, express, options } = bench
  const sizes = expected.lookups.map(({ query, result }) => {
    return JSON.stringify({ meta: { query, rcode: 200, msg: 'ok' }, result }).length
  })
  const FIXED_BYTES = String(Math.round(sizes.reduce((sum, size) => sum + size, 0) / sizes.length))
  const fixed = await startYardstick('fixed', { FIXED_BYTES })
  servers.push(fixed)
  const FIXED_HEADERS = JSON.stringify(await ourHeaders(bench))
  const headers = await startYardstick('fixed', { FIXED_BYTES, FIXED_HEADERS })
  servers.push(headers)
  const bodies = lookups(bench)
  const at =
    (server: MeasuredServer, path: string, others: readonly Pick<MeasuredServer, 'running'>[] = []) =>
    () => {
      const { seconds } = options
      const load = {
        url: server.origin + path,
        bodies,
        connections: CONNECTIONS,
        seconds,
        servers: [server, ...others],
      }
      return runClosedLoad(folder, load)
    }
  const contenders = {
    ours: at(ours, '/v1.0/lookup'),
    fixed: at(fixed, '/v1.0/lookup'),
    headers: at(headers, '/v1.0/lookup'),
    point: at(express, '/point', [postgres]),
    job: at(express, '/v1.0/lookup', [postgres]),
  }
  await runInterleaved(1, contenders)
  const figures = await runInterleaved(options.rounds, contenders)
  raw.lookup = figures
  metrics.push(...lookupMetrics(figures, FIXED_BYTES))
}

type Contender = 'ours' | 'fixed' | 'headers' | 'point' | 'job'

function lookupMetrics(figures: Record<Contender, MeasuredLoad[]>, bytes: string): Metric[] {
  const rate = (key: Contender): number => medianOf(figures[key], (each) => each.rate)
  const cpu = (key: Contender): number => medianOf(figures[key], ({ cpuMicroseconds }) => cpuMicroseconds)
  const both = (name: string, key: Contender): Metric[] => [
    metric(name, rate(key), 'requests/s'),
    metric('  processor time', cpu(key), 'µs'),
  ]
  return [
    ...both('/lookup', 'ours').slice(0, 1),
    metricWithMax('  processor time', cpu('ours'), 'µs', 36),
    metric(
      '  p99 under full load',
      medianOf(figures.ours, ({ p99 }) => p99),
      'ms',
    ),
    ...both(`(a) bare Fastify, ${bytes} bytes`, 'fixed'),
    ...both('(a2) the same with our headers', 'headers'),
    ...both('(b) express + pg, one point query', 'point'),
    ...both('(c) express + pg, the same job', 'job'),
    metricWithMin('/lookup to (a)', rate('ours') / rate('fixed'), '×', 0.55),
    metricWithMin('/lookup to (a2)', rate('ours') / rate('headers'), '×', 0.6),
    metricWithMin('/lookup to (b)', rate('ours') / rate('point'), '×', 1.7),
    metricWithMin('  by processor time', cpu('point') / cpu('ours'), '×', 2.5),
    metricWithMin('/lookup to (c)', rate('ours') / rate('job'), '×', 3),
    metric('  by processor time', cpu('job') / cpu('ours'), '×'),
  ]
}

/** The headers of a response of ours, without those that node:http adds. */
async function ourHeaders({ ours, expected, tokens }: ServeBench): Promise<Record<string, string>> {
  const response = await fetch(`${ours.origin}/v1.0/lookup`, {
    method: 'POST',
    body: JSON.stringify({ token: tokens[0], query: expected.lookups[0]!.query }),
  })
  await response.text()
  const ownNames = ['date', 'connection', 'keep-alive', 'content-length', 'content-type']
  return Object.fromEntries([...response.headers].filter(([name]) => !ownNames.includes(name)))
}
