/**
 * `npm run bench:shutdown`: sends SIGTERM under full load, 20 rounds each on SQLite and PostgreSQL. No request may be
 * reset or stay unanswered.
 */

import { spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { keepAliveCommand, postRequest } from './load/keep-alive.ts'
import type { KeepAliveResult } from './load/keep-alive-load.ts'
import { startDomaindex } from './load/server.ts'
import { readOptions } from './measure/options.ts'
import { domaindexCommand, makeTemporaryFolder, runProcess, stopProcess } from './measure/process.ts'
import { type Metric, metric, metricWithMax, report } from './measure/report.ts'
import { writeObservations } from './world/observation-files.ts'
import { connectionConfig, startPostgresServer } from './world/postgres.ts'
import { createTokens, type StoreFiles, storeFilesIn } from './world/store.ts'
import { domainNameAt, firstProbeRound, type World } from './world/world.ts'

/** The number of connections, and of requests in flight on each. */
const LOADS = { 'keep-alive': [200, 1], pipelined: [50, 10], '2,000 at once': [2_000, 1] } as const
const WORKERS = 2

const options = readOptions(2_000, 1, 20)
const folder = makeTemporaryFolder()
const world: World = { seed: 1, names: options.names, text: false }
const path = join(folder, 'world.jsonl')
writeObservations(path, world, firstProbeRound(), 'slot')
const sqlite = storeFilesIn(folder)
const postgres = await startPostgresServer(folder)
const client = new pg.Client({ ...connectionConfig(postgres.socket), database: 'postgres' })
await client.connect()
await client.query('create database shutdown')
await client.end()
const url = `postgres://bench@localhost/shutdown?host=${postgres.socket}`
const stores: Record<string, StoreFiles> = {
  SQLite: sqlite,
  PostgreSQL: { ...storeFilesIn(folder, 'postgres'), url, env: { DOMAINDEX_STORE: url } },
}
const metrics: Metric[] = []
const raw: Record<string, unknown> = {}
try {
  for (const [engine, store] of Object.entries(stores)) {
    if (options.only !== null && options.only !== engine) continue
    await runProcess(domaindexCommand('import', path), { env: store.env })
    const tokens = await createTokens(store, 50, world.seed)
    for (const [loadName, [connections, depth]] of Object.entries(LOADS)) {
      const rounds: (KeepAliveResult & { seconds: number })[] = []
      for (let round = 0; round < options.rounds; round++)
        rounds.push(await runRound(store, tokens, connections, depth))
      raw[`${engine} ${loadName}`] = rounds
      const sum = (pick: (round: KeepAliveResult) => number) => rounds.reduce((total, round) => total + pick(round), 0)
      metrics.push(
        metric(
          `${engine}, ${loadName}: responses`,
          sum(({ statuses }) => statuses['200'] ?? 0),
          '',
        ),
      )
      metrics.push(
        metricWithMax(
          '  reset',
          sum(({ reset }) => reset),
          '',
          0,
        ),
      )
      metrics.push(
        metricWithMax(
          '  closed without a response or notice',
          sum(({ unanswered }) => unanswered),
          '',
          0,
        ),
      )
      metrics.push(metric('  longest shutdown', Math.max(...rounds.map(({ seconds }) => seconds)), 's'))
    }
  }
  report(
    'shutdown',
    metrics,
    [`${options.rounds} rounds each; ${WORKERS} workers; SIGTERM after ${options.seconds} s of load`],
    raw,
  )
} finally {
  await stopProcess(postgres.running)
  rmSync(folder, { recursive: true })
}

/** One round: starts a server, loads it and sends SIGTERM. */
async function runRound(store: StoreFiles, tokens: readonly string[], connections: number, depth: number) {
  const server = await startDomaindex(store, { workers: WORKERS })
  const requests = tokens.map((token, index) => {
    return postRequest('/v1.0/lookup', { token, query: domainNameAt(world, index) })
  })
  mkdirSync(folder, { recursive: true })
  const [program, ...args] = keepAliveCommand(folder, {
    port: Number(new URL(server.origin).port),
    connections,
    depth,
    warmUpSeconds: 0,
    seconds: 30,
    requests,
  })
  const loadProcess = spawn(program!, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  loadProcess.stdout.setEncoding('utf8').on('data', (text) => (output += text))
  const closed = new Promise((resolve) => loadProcess.on('close', resolve))
  await sleep(1_000 + options.seconds * 1_000)
  const startedAt = performance.now()
  await stopProcess(server.running)
  const seconds = (performance.now() - startedAt) / 1_000
  await closed // the server refuses connections now, so the clients end too
  return { ...(JSON.parse(output) as KeepAliveResult), seconds }
}
