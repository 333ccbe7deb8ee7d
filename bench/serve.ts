/** `npm run bench:serve`: how fast one worker answers, beside a bare server and beside express with PostgreSQL. */

import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { LOADER, load } from './load/load.ts'
import { serve, yardstick } from './load/server.ts'
import { inTurn, medianOf } from './measure/measure.ts'
import { readOptions } from './measure/options.ts'
import { domaindex, end, run, temporary } from './measure/process.ts'
import { atLeast, figure, type Line, report } from './measure/report.ts'
import { type Bench, lookups, measureDepth, measurePages, measureWaits } from './serve/pages.ts'
import { truthOf, verifyLookups, verifyPages, verifyRedirects } from './world/answers.ts'
import { writeRound } from './world/observation-files.ts'
import { startPostgres } from './world/postgres.ts'
import { makeTokens, type StoreFiles, storeIn } from './world/store.ts'
import { firstRound, type World } from './world/world.ts'

const ACCOUNTS = 200
const CONNECTIONS = 64
const VERIFIED = 1000

const options = readOptions(1_000_000, 5)
const folder = options.folder ?? temporary()
mkdirSync(folder, { recursive: true })
const world: World = { seed: 1, names: options.names, text: false }
const store = storeIn(folder)
if (!existsSync(store.facts)) await fill(store)
const tokens = await makeTokens(store, ACCOUNTS, world.seed)
const postgres = await startPostgres(folder, world, tokens)
const ours = await serve(store)
const express = await yardstick('express', { PG_SOCKET: postgres.socket })
const servers = [ours, express]
try {
  const truth = truthOf(world, VERIFIED)
  const bench: Bench = { folder, options, world, tokens, ours, express, truth }
  await verify(bench)
  const lines: Line[] = []
  const raw: Record<string, unknown> = {}
  if (options.only === null || options.only === 'lookup') await measureLookup(bench, lines, raw)
  if (options.only === null || options.only === 'pages') await measurePages(bench, lines, raw)
  if (options.only === null || options.only === 'walks') await measureDepth(bench, lines, raw)
  if (options.only === null || options.only === 'walks') await measureWaits(bench, lines, raw)
  await verifyLookups(ours, truth, tokens[0]!)
  report('serve', lines, notes(), raw)
} finally {
  for (const { started } of [...servers, postgres]) await end(started)
  if (options.folder === null) rmSync(folder, { recursive: true })
}

function notes(): string[] {
  return [
    `${options.names.toLocaleString('en')} made-up names, seed ${world.seed}; median of ${options.rounds} runs of ${options.seconds} s in turn; load by ${LOADER}`,
    `one worker with its primary on the first core, access log to a file, load on the second; PostgreSQL on either; ${VERIFIED.toLocaleString('en')} lookups and whole walks verified`,
  ]
}

/** The store by the program's own import. */
async function fill(store: StoreFiles): Promise<void> {
  const path = join(folder, 'world.jsonl')
  writeRound(path, world, firstRound(), 'slot')
  await run(domaindex('import', path), { env: store.env })
  rmSync(path)
}

async function verify({ ours, express, truth, tokens }: Bench): Promise<void> {
  const [token] = tokens as [string]
  for (const server of [ours, express]) {
    await verifyLookups(server, truth, token)
    await verifyPages(`${server.origin}/v1.0/reverseip`, truth, token, 50_000)
  }
  await verifyPages(`${ours.origin}/v1.0/reverseip`, truth, token, 1000)
  await verifyPages(`${express.origin}/text/reverseip`, truth, token, 50_000)
  await verifyRedirects(ours, truth, token)
}

async function measureLookup(bench: Bench, lines: Line[], raw: Record<string, unknown>): Promise<void> {
  const { truth, ours, express, options } = bench
  const sizes = truth.lookups.map(({ query, result }) => {
    return JSON.stringify({ meta: { query, rcode: 200, msg: 'ok' }, result }).length
  })
  const FIXED_BYTES = String(Math.round(sizes.reduce((sum, size) => sum + size, 0) / sizes.length))
  const fixed = await yardstick('fixed', { FIXED_BYTES })
  servers.push(fixed)
  const bodies = lookups(bench)
  const at = (url: string, seconds = options.seconds) =>
    load(folder, { url, bodies, connections: CONNECTIONS, seconds })
  const contenders = {
    ours: () => at(`${ours.origin}/v1.0/lookup`),
    fixed: () => at(`${fixed.origin}/v1.0/lookup`),
    point: () => at(`${express.origin}/point`),
    job: () => at(`${express.origin}/v1.0/lookup`),
  }
  await inTurn(1, contenders)
  const figures = await inTurn(options.rounds, contenders)
  raw.lookup = figures
  const rate = (key: keyof typeof figures): number => medianOf(figures[key], (each) => each.rate)
  lines.push(figure('/lookup', rate('ours'), 'requests/s'))
  lines.push(
    figure(
      '  p99 under full load',
      medianOf(figures.ours, ({ p99 }) => p99),
      'ms',
    ),
  )
  lines.push(figure(`(a) bare Fastify, ${FIXED_BYTES} bytes`, rate('fixed'), 'requests/s'))
  lines.push(figure('(b) express + pg, one point query', rate('point'), 'requests/s'))
  lines.push(figure('(c) express + pg, the same job', rate('job'), 'requests/s'))
  lines.push(atLeast('/lookup to (a)', rate('ours') / rate('fixed'), '×', 0.55))
  lines.push(atLeast('/lookup to (b)', rate('ours') / rate('point'), '×', 1.7))
  lines.push(atLeast('/lookup to (c)', rate('ours') / rate('job'), '×', 3))
}
