/**
 * `npm run bench:serve`: measures the speed of one worker, compared with a bare server and with express on PostgreSQL.
 */

import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { LOAD_TOOL, runClosedLoad } from './load/closed-load.ts'
import { startDomaindex, startYardstick } from './load/server.ts'
import { readOptions } from './measure/options.ts'
import { makeTemporaryFolder, stopProcess } from './measure/process.ts'
import { type Metric, metric, metricWithMin, report } from './measure/report.ts'
import { medianOf, runInterleaved } from './measure/rounds.ts'
import { lookups, measureDepth, measureLookupsDuringPages, measurePages, type ServeBench } from './serve/pages.ts'
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
const ours = await startDomaindex(store)
const express = await startYardstick('express', { PG_SOCKET: postgres.socket })
const servers = [ours, express]
try {
  const expected = computeExpectedAnswers(world, VERIFIED_LOOKUPS)
  const bench: ServeBench = { folder, options, world, tokens, ours, express, expected }
  await verify(bench)
  const metrics: Metric[] = []
  const raw: Record<string, unknown> = {}
  if (options.only === null || options.only === 'lookup') await measureLookup(bench, metrics, raw)
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
    `one worker with its primary on the first core, with an access log; load on the second core; PostgreSQL on both; ${VERIFIED_LOOKUPS.toLocaleString('en')} lookups and all pages verified`,
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
  const bodies = lookups(bench)
  const at = (url: string, seconds = options.seconds) =>
    runClosedLoad(folder, { url, bodies, connections: CONNECTIONS, seconds })
  const contenders = {
    ours: () => at(`${ours.origin}/v1.0/lookup`),
    fixed: () => at(`${fixed.origin}/v1.0/lookup`),
    point: () => at(`${express.origin}/point`),
    job: () => at(`${express.origin}/v1.0/lookup`),
  }
  await runInterleaved(1, contenders)
  const figures = await runInterleaved(options.rounds, contenders)
  raw.lookup = figures
  const rate = (key: keyof typeof figures): number => medianOf(figures[key], (each) => each.rate)
  metrics.push(metric('/lookup', rate('ours'), 'requests/s'))
  metrics.push(
    metric(
      '  p99 under full load',
      medianOf(figures.ours, ({ p99 }) => p99),
      'ms',
    ),
  )
  metrics.push(metric(`(a) bare Fastify, ${FIXED_BYTES} bytes`, rate('fixed'), 'requests/s'))
  metrics.push(metric('(b) express + pg, one point query', rate('point'), 'requests/s'))
  metrics.push(metric('(c) express + pg, the same job', rate('job'), 'requests/s'))
  metrics.push(metricWithMin('/lookup to (a)', rate('ours') / rate('fixed'), '×', 0.55))
  metrics.push(metricWithMin('/lookup to (b)', rate('ours') / rate('point'), '×', 1.7))
  metrics.push(metricWithMin('/lookup to (c)', rate('ours') / rate('job'), '×', 3))
}
